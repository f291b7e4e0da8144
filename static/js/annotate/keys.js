// The keyboard: digits answer the question in focus and go on, letters do what the drawer of keys says. Each person can
// give these other keys or switch them off; then digits answer only the question that has the focus.
import * as flow from "./flow.js";
import * as ranking from "./ranking.js";
import * as reading from "./reading.js";
import * as shortcuts from "./shortcuts.js";
import * as spans from "./spans.js";
import { showAsWritten } from "../as_written.js";
import { step } from "../turns.js";

const WAIT = 1500; // for the next key of a number, where the scale has longer ones
const stage = () => document.getElementById("stage");
const questions = () => [...stage().querySelectorAll("[data-question]")];
const isTyping = (element) => element.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])");
let begun = { radio: null, keys: "" }; // a number, while the focus stays where its first keys put it
let waiting;

const target = (question) => question.querySelector("input:checked") || question.querySelector("input");
const isAnswered = (question) => Boolean(question.querySelector("input:checked") || question.querySelector("input[type=number]")?.value);

function current() {
  const focused = document.activeElement?.closest?.("[data-question]");
  return focused || questions().find((question) => !isAnswered(question)) || questions()[0];
}

// The keys of a number choose its point and no other. While a longer number may follow (1 before 10, a minus before all)
// the question keeps the focus; the next key either continues the number or belongs to the next question.
function answer(key) {
  let question = current();
  if (!question) return false;
  clearTimeout(waiting);
  const field = question.querySelector("input[type=number]");
  if (field) { // the browser types the key there, in place of what it has
    field.focus();
    field.select();
    return false;
  }
  const before = begun.radio === document.activeElement ? begun.keys : "";
  let keys = before + key;
  begun = { radio: null, keys: "" };
  if (before && !options(question, keys).length) {
    if (!point(question, before)) return true; // a minus before a number that the scale lacks
    goOn(question);
    question = current();
    keys = key;
  }
  const choices = options(question, keys).length;
  const radio = point(question, keys);
  if (radio) choose(radio);
  if (radio && choices === 1) goOn(question);
  else if (choices) wait(question, keys, radio);
  return choices > 0;
}

const options = (question, keys) => [...question.querySelectorAll(`input[data-key^="${keys}"]`)];
const point = (question, keys) => question.querySelector(`input[data-key="${keys}"]`);

function wait(question, keys, chosen) {
  const radio = chosen || target(question);
  radio.focus();
  begun = { radio, keys };
  waiting = setTimeout(() => {
    begun = { radio: null, keys: "" };
    if (chosen && document.activeElement === radio) goOn(question);
  }, WAIT);
}

function goOn(question) {
  const list = questions();
  target(list[list.indexOf(question) + 1] || question).focus();
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
  n: () => {
    const question = current();
    const box = question?.querySelector("[data-not-applicable]");
    if (!box) return;
    choose(box);
    goOn(question);
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
      const next = element.matches("input[type=number]") && questions().find((question) => !isAnswered(question));
      if (next && !next.contains(element)) target(next).focus();
      else flow.submit();
    }
    return;
  }
  if (isTyping(element)) return;
  const action = shortcuts.actionOf(event.key);
  if (action) {
    event.preventDefault();
    actions[action]();
  } else if (shortcuts.isOfANumber(event.key)) {
    if (!shortcuts.areOn() && !element.closest?.("[data-question]")) return;
    if (answer(event.key)) event.preventDefault();
  }
});
