// Marking words of the output with an error type and a severity. Offsets count code points, as the server does.
import { paint, range } from "./reading.js";
import { word } from "./words.js";

const box = () => document.querySelector("#stage [data-spans]");
const text = () => document.querySelector("#stage [data-text]");
const field = () => box().querySelector("[name=spans]");
const points = (string) => [...string].length;

function spans() {
  try { return JSON.parse(field().value || "[]"); } catch { return []; }
}

function keep(list) {
  field().value = list.length ? JSON.stringify(list) : "";
  field().dispatchEvent(new Event("input", { bubbles: true }));
  show();
}

function show() {
  if (!box()) { paint("span", []); return; }
  const whole = text().textContent;
  const list = box().querySelector("[data-span-list]");
  const marked = spans();
  list.replaceChildren(...marked.map((span, index) => {
    const item = document.createElement("li");
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "link";
    remove.textContent = word("remove");
    remove.setAttribute("aria-label", `${word("remove")} ${span.category}: ${span.quote}`);
    remove.addEventListener("click", () => keep(spans().filter((_, other) => other !== index)));
    item.append(`“${span.quote}” ${span.category}${span.severity ? `, ${span.severity}` : ""} `, remove);
    return item;
  }));
  const letters = [...whole];
  const place = (count) => letters.slice(0, count).join("").length;
  paint("span", marked.map((span) => range(text(), place(span.start), place(span.end))).filter(Boolean));
}

// The selected words, whole ones: a selection by mouse that begins or ends within a word takes all
// of it.
function selected() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const chosen = selection.getRangeAt(0);
  if (!text().contains(chosen.startContainer) || !text().contains(chosen.endContainer)) return null;
  const before = document.createRange();
  before.setStart(text(), 0);
  before.setEnd(chosen.startContainer, chosen.startOffset);
  const whole = text().textContent;
  const from = before.toString().length;
  const to = from + chosen.toString().length;
  const language = document.documentElement.lang || undefined;
  const words = [...new Intl.Segmenter(language, { granularity: "word" }).segment(whole)]
    .filter(({ segment, index }) => segment.trim() && index < to && index + segment.length > from);
  if (!words.length) return null;
  const last = words.at(-1);
  const quote = whole.slice(words[0].index, last.index + last.segment.length);
  const start = points(whole.slice(0, words[0].index));
  return { start, end: start + points(quote), quote };
}

export function mark() {
  if (!box()) return;
  const span = selected();
  if (!span) {
    beginWithKeys();
    return;
  }
  span.category = box().querySelector("[data-category]").value;
  span.severity = box().querySelector("[data-severity]")?.value ?? "";
  keep([...spans(), span]);
  getSelection().removeAllRanges();
}

// Without a selection: put one on the first word, to be moved and extended with the arrows.
function beginWithKeys() {
  const output = text();
  output.tabIndex = -1;
  output.focus();
  const walker = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
  if (!walker.nextNode()) return;
  getSelection().setBaseAndExtent(walker.currentNode, 0, walker.currentNode, 0);
  getSelection().modify("extend", "forward", "word");
}

export function moveWithKeys(event) {
  const selection = getSelection();
  if (document.activeElement !== text() || selection.isCollapsed) return false;
  const forward = event.key === "ArrowRight";
  if (event.key === "Enter") {
    mark();
    text().blur();
  } else if (event.key === "Escape") {
    selection.removeAllRanges();
    text().blur();
  } else if (forward || event.key === "ArrowLeft") {
    if (event.shiftKey) selection.modify("extend", forward ? "forward" : "backward", "word");
    else {
      if (forward) selection.collapseToEnd();
      else { selection.collapseToStart(); selection.modify("move", "backward", "word"); }
      selection.modify("extend", "forward", "word");
    }
  } else return false;
  event.preventDefault();
  return true;
}

document.addEventListener("mousedown", (event) => {
  if (event.target.closest("[data-mark]")) event.preventDefault(); // keep the selection
});
document.addEventListener("click", (event) => { if (event.target.closest("[data-mark]")) mark(); });
document.addEventListener("task", show);
