// Texts in their format, or as they were written: `m` switches all of a page. Where people annotate, keys.js has the
// keys, and what was chosen last is kept for the next items.
const isTyping = (element) => element.matches("input:not([type=radio], [type=checkbox]), textarea, select");
let asWritten = null;

export function showAsWritten(shown = null) {
  const folds = [...document.querySelectorAll("[data-as-written]")];
  if (!folds.length) return;
  asWritten = shown ?? !folds[0].open;
  for (const fold of folds) fold.open = asWritten;
}

export function showAsChosen() {
  if (asWritten !== null) showAsWritten(asWritten);
}

document.addEventListener("click", (event) => {
  const fold = event.target.closest("[data-as-written] > summary");
  if (fold) asWritten = !fold.parentElement.open;
});

if (!document.querySelector("[data-annotate]")) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
    if (event.key === "m") showAsWritten();
  });
}
