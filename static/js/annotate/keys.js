// The keyboard: digits answer the question in focus and go on, letters do what the drawer of keys says. Each person can
// give these other keys or switch them off; then digits answer only the question that has the focus.
import * as flow from "./flow.js";
import * as ranking from "./ranking.js";
import * as reading from "./reading.js";
import * as shortcuts from "./shortcuts.js";
import * as spans from "./spans.js";
import { showAsWritten } from "../as_written.js";
import { step } from "../turns.js";

const WAIT = 700; // for the second digit of a number
const stage = () => document.getElementById("stage");
const questions = () => [...stage().querySelectorAll("[data-question]")];
const isTyping = (element) => element.matches("textarea, select, input:not([type=radio], [type=checkbox])");
let typed = "";
let typedAt = 0;

const target = (question) => question.querySelector("input:checked") || question.querySelector("input");
const isAnswered = (question) => Boolean(question.querySelector("input:checked") || question.querySelector("input[type=number]")?.value);

function current() {
  const focused = document.activeElement?.closest?.("[data-question]");
  return focused || questions().find((question) => !isAnswered(question)) || questions()[0];
}

// A digit is an answer by itself, or the second one of a number such as 10 where the scale has it.
function answer(digit) {
  const question = current();
  if (!question) return false;
  const now = Date.now();
  const number = now - typedAt < WAIT ? typed + digit : "";
  typed = digit;
  typedAt = now;
  const previous = number && questions()[questions().indexOf(question) - 1];
  const both = previous && previous.querySelector(`input[value="${number}"]`);
  if (both && !previous.querySelector(`input[data-key="${digit}"]`)) {
    choose(both);
    return true;
  }
  const radio = question.querySelector(`input[data-key="${digit}"]`);
  if (!radio) return false;
  choose(radio);
  const list = questions();
  const next = list[list.indexOf(question) + 1];
  if (next) target(next).focus(); else radio.focus();
  return true;
}

function choose(radio) {
  radio.checked = true;
  radio.dispatchEvent(new Event("input", { bubbles: true }));
}

function toggle(id) {
  const drawer = document.getElementById(id);
  drawer.open = !drawer.open;
  if (drawer.open) drawer.querySelector(".drawer-body").focus();
}

const actions = {
  s: () => {
    const box = stage().querySelector("[data-skip-box]");
    if (box) { box.open = true; box.querySelector("input[name=reason]").focus(); }
  },
  f: () => {
    const flag = stage().querySelector("[name=flagged]");
    if (flag) { flag.checked = !flag.checked; flag.dispatchEvent(new Event("input", { bubbles: true })); }
  },
  c: () => stage().querySelector("[name=comment]")?.focus(),
  u: () => flow.back(),
  g: () => toggle("guidelines"),
  "?": () => toggle("keys"),
  "/": () => {
    const fold = stage().querySelector("[data-source-fold]");
    if (fold) fold.open = true;
    stage().querySelector("[data-find]")?.focus();
  },
  o: () => {
    const fold = stage().querySelector("[data-source-fold]");
    if (fold) fold.open = !fold.open;
  },
  d: () => reading.showDifferences(),
  m: () => showAsWritten(),
  w: () => { showAsWritten(true); spans.mark(); },
  ",": () => reading.step(-1),
  ".": () => reading.step(1),
  "[": () => step(-1),
  "]": () => step(1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.isComposing || !stage()) return;
  const element = event.target;
  if (spans.moveWithKeys(event)) return;
  if (event.key === "Escape") {
    for (const drawer of document.querySelectorAll(".drawer[open]")) drawer.open = false;
    if (isTyping(element)) (questions().length ? target(current()) : element).focus();
    return;
  }
  const card = element.closest?.("[data-output]");
  if (event.altKey) {
    if (card && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      ranking.move(card, event.key === "ArrowUp" ? -1 : 1);
      event.preventDefault();
    }
    return;
  }
  if (event.key === "Enter") {
    const leaves = element.closest?.("textarea, a, button, summary, select, [data-skip]");
    if (!leaves) {
      event.preventDefault();
      flow.submit();
    }
    return;
  }
  if (isTyping(element)) return;
  const action = shortcuts.actionOf(event.key);
  if (action) {
    event.preventDefault();
    actions[action]();
  } else if (/^[0-9]$/.test(event.key)) {
    if (!shortcuts.areOn() && !element.closest?.("[data-question]")) return;
    if (answer(event.key)) event.preventDefault();
  }
});
