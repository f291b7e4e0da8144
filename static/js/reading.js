// Reading case by case with the keyboard: a key does what the link or button that carries it does. Pages work without
// this; then the keys are missing, and choices are sent with their button.
const isTyping = (element) => element.matches("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  target.click();
});

for (const fold of document.querySelectorAll("details[data-focuses]")) {
  // At once: a letter that is typed next belongs into the field.
  fold.querySelector("summary").addEventListener("click", (event) => {
    if (fold.open) return;
    event.preventDefault();
    fold.open = true;
    fold.querySelector("input:not([type=hidden])").focus();
  });
}

for (const form of document.querySelectorAll("form[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}

// The open case is in sight in a long list, without moving the page.
for (const list of document.querySelectorAll("[data-list]")) {
  const open = list.querySelector("[aria-current]");
  if (open) list.scrollTop += open.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
}
