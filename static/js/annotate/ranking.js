// Ranking by moving the texts: dragged by their grip or moved with Alt and an arrow, their places become the ranks.
const outputs = () => document.querySelector("#stage .task-ranking [data-outputs]");
const cards = () => [...outputs().querySelectorAll("[data-output]")];

function rankByPlace() {
  cards().forEach((card, index) => {
    for (const question of document.querySelectorAll(`#stage [data-question$="-${card.dataset.output}"]`)) {
      const radio = question.querySelector(`input[value="${index + 1}"]`);
      if (radio) radio.checked = true;
    }
  });
  document.querySelector("#stage [data-answer]").dispatchEvent(new Event("input", { bubbles: true }));
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
document.addEventListener("task", () => {
  if (outputs()) for (const grip of outputs().querySelectorAll("[data-grip]")) grip.hidden = false;
});
