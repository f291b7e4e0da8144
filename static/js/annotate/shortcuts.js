// Keys of one character: each person can give them other characters or switch them off, in the drawer of keys. Kept in
// this browser, for the person whose page it is. `data-shortcut` names an action by its usual key.
import { word } from "./words.js";

const name = () => `geval-keys-${document.querySelector("[data-annotate]").dataset.person}`;
const drawer = () => document.getElementById("keys");
const fields = () => [...drawer().querySelectorAll("input[data-shortcut]")];
let chosen = { off: false, keys: {} };

export const areOn = () => !chosen.off;
export const isOfANumber = (key) => /^[0-9-]$/.test(key);

const keyOf = (action) => chosen.keys[action] ?? action;

// The action of a key; undefined if there is none, or if keys are switched off.
export function actionOf(key) {
  if (chosen.off) return undefined;
  return fields().map((field) => field.dataset.shortcut).find((action) => keyOf(action) === key);
}

function read() {
  try { chosen = { ...chosen, ...JSON.parse(localStorage.getItem(name())) }; } catch { /* the usual keys */ }
}

function keep() {
  try { localStorage.setItem(name(), JSON.stringify(chosen)); } catch { /* until the page is left */ }
  show();
}

function show() {
  drawer().querySelector("[data-shortcuts-on]").checked = areOn();
  for (const field of fields()) field.value = keyOf(field.dataset.shortcut);
  for (const hint of document.querySelectorAll("kbd[data-shortcut]")) {
    hint.hidden = chosen.off;
    hint.textContent = keyOf(hint.dataset.shortcut);
  }
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-shortcuts-on]")) {
    chosen.off = !event.target.checked;
    keep();
  }
  const field = event.target.closest("input[data-shortcut]");
  if (!field) return;
  const key = field.value.trim();
  const isTaken = isOfANumber(key) || fields().some((other) => other !== field && keyOf(other.dataset.shortcut) === key);
  field.setCustomValidity(isTaken ? word("key_taken") : "");
  if (isTaken) { field.reportValidity(); return; }
  if (key) chosen.keys[field.dataset.shortcut] = key; else delete chosen.keys[field.dataset.shortcut];
  keep();
});
document.addEventListener("task", show);
read();
