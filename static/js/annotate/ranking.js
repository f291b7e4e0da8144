// Ranking by moving the texts: dragged by their grip or moved with Alt and an arrow, their places become the ranks.
const outputs = () => document.querySelector("#stage .task-ranking [data-outputs]");
const cards = () => [...outputs().querySelectorAll("[data-output]")];

// Of several criteria, a drag ranks the one that is chosen above the texts.
const choice = () => document.querySelector("#stage [data-ranked-by]");
const criterion = () => choice()?.querySelector("input:checked").value ?? "";
const field = () => (criterion() ? `rank-${criterion()}-` : "rank-");
const question = (card) =>
  document.querySelector(
    `#stage [data-question^="${field()}"][data-question$="-${card.dataset.output}"]`,
  );

function rankByPlace() {
  cards().forEach((card, index) => {
    const radio = question(card)?.querySelector(`input[value="${index + 1}"]`);
    if (radio) radio.checked = true;
  });
  document.querySelector("#stage [data-answer]").dispatchEvent(new Event("input", { bubbles: true }));
}

const rank = (card) => Number(question(card)?.querySelector("input:checked")?.value ?? Infinity);
const byRank = (left, right) => (rank(left) < rank(right) ? -1 : Number(rank(left) > rank(right)));

// The texts in the order of the chosen criterion's ranks, as far as it has them.
function placeByRank() {
  outputs().append(...cards().toSorted(byRank));
}

export function move(card, by) {
  const list = cards();
  const at = list.indexOf(card);
  const to = Math.max(0, Math.min(list.length - 1, at + by));
  if (to === at) return;
  if (by < 0) list[to].before(card); else list[to].after(card);
  card.focus();
  rankByPlace();
}

let dragged = null;
document.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest("[data-grip]");
  if (!grip || !outputs()) return;
  dragged = grip.closest("[data-output]");
  dragged.classList.add("dragged");
  grip.setPointerCapture(event.pointerId);
  event.preventDefault();
});
document.addEventListener("pointermove", (event) => {
  if (!dragged) return;
  const over = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-output]");
  if (!over || over === dragged || !outputs().contains(over)) return;
  const list = cards();
  if (list.indexOf(over) < list.indexOf(dragged)) over.before(dragged); else over.after(dragged);
});
document.addEventListener("pointerup", () => {
  if (!dragged) return;
  dragged.classList.remove("dragged");
  dragged = null;
  rankByPlace();
});
document.addEventListener("change", (event) => { if (event.target.name === "ranked-by") placeByRank(); });
document.addEventListener("task", () => {
  if (!outputs()) return;
  if (choice()) choice().hidden = false;
  for (const grip of outputs().querySelectorAll("[data-grip]")) grip.hidden = false;
});
