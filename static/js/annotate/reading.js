// Reading helps: search in the source, sentences of the source that share words with one of the output, differences.
// Marks are painted with the highlight API, so that the texts themselves stay untouched.
import { showAsChosen, showAsWritten } from "../as_written.js";
import { counted, word } from "./words.js";

const can = "highlights" in CSS && "Segmenter" in Intl;
const LEAST_LETTERS = 4;
let sentence = -1;

const stage = () => document.getElementById("stage");
// The source in its format, or as it was written: whichever is in sight.
const source = () => {
  const both = [...stage().querySelectorAll("[data-source]")];
  return both.find((one) => one.checkVisibility()) ?? both.at(-1);
};
export const paint = (name, ranges) => {
  if (!can) return;
  if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
  else CSS.highlights.delete(name);
};

// The text nodes of an element with where each begins, so that offsets in its text become ranges.
export function range(element, start, end) {
  const made = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let at = 0;
  let open = false;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const after = at + node.length;
    if (!open && start < after) { made.setStart(node, start - at); open = true; }
    if (open && end <= after) { made.setEnd(node, end - at); return made; }
    at = after;
  }
  return null;
}

function find(wanted) {
  const text = source()?.textContent ?? "";
  const ranges = [];
  const needle = wanted.trim().toLowerCase();
  const hay = text.toLowerCase();
  for (let at = needle ? hay.indexOf(needle) : -1; at >= 0 && ranges.length < 1000; at = hay.indexOf(needle, at + needle.length)) {
    ranges.push(range(source(), at, at + needle.length));
  }
  const found = ranges.filter(Boolean);
  paint("found", found);
  const count = stage().querySelector("[data-found]");
  if (count) count.textContent = needle ? word("matches", { count: counted(found.length) }) : "";
  scrollTo(found[0]);
}

function scrollTo(marked) {
  const box = stage().querySelector(".task-scroll");
  if (!marked || !box) return;
  const place = marked.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  if (place.top < frame.top || place.bottom > frame.bottom) box.scrollTop += place.top - frame.top - frame.height / 3;
}

const sentences = (text) => [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)];
const words = (text) => new Set(
  [...new Intl.Segmenter("en", { granularity: "word" }).segment(text)]
    .filter((each) => each.isWordLike && each.segment.length >= LEAST_LETTERS)
    .map((each) => each.segment.toLowerCase()),
);

function share(output, index) {
  if (!can || !source()) return;
  const listed = sentences(output.textContent).filter((one) => one.segment.trim());
  if (!listed.length) return;
  sentence = Math.max(0, Math.min(index, listed.length - 1));
  const chosen = listed[sentence];
  paint("chosen", [range(output, chosen.index, chosen.index + chosen.segment.trimEnd().length)].filter(Boolean));
  const wanted = words(chosen.segment);
  const marked = [];
  for (const one of sentences(source().textContent)) {
    const common = [...words(one.segment)].filter((each) => wanted.has(each)).length;
    if (common >= 2 || (common && wanted.size < 3)) {
      marked.push(range(source(), one.index, one.index + one.segment.trimEnd().length));
    }
  }
  const found = marked.filter(Boolean);
  paint("shared", found);
  scrollTo(found[0]);
}

export function step(by) {
  const output = stage().querySelector("[data-text]");
  if (output) share(output, sentence + by);
}

export function showDifferences() {
  const button = stage().querySelector("[data-differences]");
  if (!button) return;
  if (!stage().classList.contains("show-differences")) showAsWritten(true);
  const shown = stage().classList.toggle("show-differences");
  button.setAttribute("aria-pressed", String(shown));
  button.textContent = shown ? button.dataset.hide : button.dataset.show;
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-find]")) find(event.target.value);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-differences]")) showDifferences();
  const output = event.target.closest("[data-text]");
  if (!output || !can || !getSelection().isCollapsed) return;
  const at = document.createRange();
  const anchor = getSelection().anchorNode;
  if (!anchor || !output.contains(anchor)) return;
  at.setStart(output, 0);
  at.setEnd(anchor, getSelection().anchorOffset);
  const offset = at.toString().length;
  share(output, sentences(output.textContent).filter((one) => one.segment.trim()).findLastIndex((one) => one.index <= offset));
});
document.addEventListener("task", (event) => {
  // On a phone the output comes first; flow.js keeps the fold as it is from then on.
  const fold = stage().querySelector("[data-source-fold]");
  if (event.detail?.first && fold && matchMedia("(max-width: 800px)").matches) fold.open = false;
  // What is rated follows the last turn.
  const conversation = stage().querySelector(".task-scroll [data-turns]");
  if (conversation) conversation.closest(".task-scroll").scrollTop = conversation.offsetHeight;
  showAsChosen();
  sentence = -1;
  for (const name of ["found", "chosen", "shared"]) paint(name, []);
  const button = stage().querySelector("[data-differences]");
  if (button) {
    button.hidden = false;
    const shown = stage().classList.contains("show-differences");
    button.setAttribute("aria-pressed", String(shown));
    button.textContent = shown ? button.dataset.hide : button.dataset.show;
  }
});
