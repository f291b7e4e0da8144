// The flow: every change is kept here and on the server, an answer goes into an outbox and from there to the server,
// the next item is loaded ahead. While the network is away, the items at hand can be done; all is sent when it is back.
import * as clock from "./clock.js";
import * as store from "./store.js";

const AHEAD = 2;
const DRAFT_WAIT = 250;
const RETRY_WAIT = 2500;
const HEADERS = { Accept: "application/json" };
let root; // the element with the campaign's addresses
let ready = []; // pieces loaded ahead: {assignment, html}
let draftTimer = 0;
let saving = Promise.resolve();
let flushing = null;
let loading = null;
let wasSame = false; // whether the trouble that is shown is of a best that is the worst

const stage = () => document.getElementById("stage");
const task = () => stage().querySelector("[data-task]");
const form = () => stage().querySelector("[data-answer]");
const assignment = () => task()?.dataset.assignment;
const idOf = (html) => /data-assignment="(\d+)"/.exec(html)?.[1];

// Messages

function say(text) { document.getElementById("saved").textContent = text; }

function trouble(text, link) {
  const box = document.getElementById("trouble");
  box.hidden = !text;
  box.replaceChildren(text);
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.textContent = "Open that item";
    box.append(" ", anchor);
  }
}

function sayWaiting() {
  const waiting = store.outbox(root.dataset.campaign).length;
  say(waiting
    ? `No connection: ${waiting} answer${waiting > 1 ? "s are" : " is"} stored in this browser and will be sent later.`
    : "No connection: what you type is stored in this browser.");
}

// Sending

async function send(url, values) {
  const body = new URLSearchParams({ ...values, csrfmiddlewaretoken: root.dataset.token });
  const answer = await fetch(url, { method: "POST", body, headers: HEADERS, redirect: "manual" });
  if (answer.type === "opaqueredirect" || answer.status === 401) {
    const message = "You are signed out. Sign in again in another tab, then reload this page; nothing you typed is lost.";
    return { status: 401, message };
  }
  const content = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : {};
  if (answer.status >= 500) throw new Error("the server could not answer");
  const message = `The server refused the answer (${answer.status}). It is stored in this browser.`;
  return { status: answer.status, ...content, message: content.message || message };
}

function fields() {
  const values = Object.fromEntries(new FormData(form()));
  delete values.csrfmiddlewaretoken;
  return values;
}

// Drafts

function changed() {
  if (!form()) return;
  same();
  const draft = { fields: fields(), number: Date.now(), seconds: clock.seconds(), url: task().dataset.draft, sent: false };
  store.keepDraft(assignment(), draft);
  clearTimeout(draftTimer);
  draftTimer = setTimeout(() => { saving = sendDraft(assignment()); }, DRAFT_WAIT);
}

async function sendDraft(id) {
  const draft = store.draft(id);
  if (!draft || draft.sent) return;
  try {
    const answer = await send(draft.url, { ...draft.fields, number: draft.number, seconds: draft.seconds });
    if (answer.status !== 200) { trouble(answer.message); return; }
    const newest = store.draft(id);
    if (newest && newest.number === draft.number) store.keepDraft(id, { ...draft, sent: true });
    if (id === assignment()) say(`Saved at ${new Date().toLocaleTimeString()}`);
  } catch { sayWaiting(); }
}

function fill(values) {
  for (const element of form().elements) {
    if (!element.name || element.name === "csrfmiddlewaretoken" || element.name === "version") continue;
    if (element.type === "radio") element.checked = values[element.name] === element.value;
    else if (element.type === "checkbox") element.checked = Boolean(values[element.name]);
    else element.value = values[element.name] ?? "";
  }
}

// Submitting

function missing() {
  return [...stage().querySelectorAll("[data-question]")].find((question) => !question.querySelector("input:checked")
    && !question.querySelector("input[type=number]")?.value);
}

// The best and the worst of several cannot be the same: said at once.
function same() {
  for (const best of form().querySelectorAll("input[name^=best-]:checked")) {
    const worst = form().querySelector(`input[name="${best.name.replace("best-", "worst-")}"]:checked`);
    if (worst && worst.value === best.value) {
      wasSame = true;
      trouble(`“${worst.closest("[data-question]").querySelector("legend").textContent}” cannot be the same as the best.`);
      return true;
    }
  }
  if (wasSame) trouble("");
  wasSame = false;
  return false;
}

export function submit() {
  if (!form()) return;
  const lacks = missing();
  if (lacks) {
    trouble(`Answer “${lacks.querySelector("legend").textContent}” first.`);
    lacks.querySelector("input").focus();
    return;
  }
  if (same()) return;
  const number = form().querySelector("input[type=number]:invalid");
  if (number) {
    trouble(`${number.getAttribute("aria-label")}: ${number.validationMessage}`);
    number.focus();
    return;
  }
  trouble("");
  clearTimeout(draftTimer);
  const letter = { assignment: assignment(), url: form().action, draftUrl: task().dataset.draft, fields: { ...fields(), seconds: clock.seconds(), number: Date.now() } };
  store.keepOutbox(root.dataset.campaign, [...store.outbox(root.dataset.campaign).filter((other) => other.assignment !== letter.assignment), letter]);
  if (task().hasAttribute("data-practice") && !task().hasAttribute("data-submitted")) expected(letter);
  else forward();
}

// After practice: the same item with the expected answer, from which “Next item” goes on.
async function expected(letter) {
  if (!await flush()) { forward(); return; }
  try {
    show(await piece(letter.url.replace(/submit\/$/, "?fragment")));
    stage().querySelector("[data-expected]")?.focus();
  } catch (error) { trouble(error.message); }
}

async function skip(event) {
  event.preventDefault();
  clearTimeout(draftTimer);
  const letter = { assignment: assignment(), url: event.target.action, skip: true, fields: { reason: event.target.elements.reason.value } };
  store.keepOutbox(root.dataset.campaign, [...store.outbox(root.dataset.campaign), letter]);
  trouble("");
  forward();
}

function flush() {
  flushing ??= empty().finally(() => { flushing = null; });
  return flushing;
}

// Send what is in the outbox, in order; an answer leaves it only when the server has it or has refused it.
async function empty() {
  await saving;
  for (;;) {
    const letter = store.outbox(root.dataset.campaign)[0];
    if (!letter) return true;
    let answer;
    try {
      answer = await send(letter.url, letter.fields);
    } catch {
      sayWaiting();
      return false;
    }
    if (answer.status === 401) { trouble(answer.message); return false; }
    const rest = store.outbox(root.dataset.campaign).filter((other) => other.assignment !== letter.assignment || other.fields.number !== letter.fields.number);
    if (answer.status === 200) {
      store.dropDraft(letter.assignment);
      say(letter.skip ? "Skipped." : `Submitted at ${new Date().toLocaleTimeString()}`);
    } else {
      if (!letter.skip) store.keepDraft(letter.assignment, { fields: letter.fields, number: Date.now(), seconds: letter.fields.seconds, url: letter.draftUrl, sent: false });
      trouble(answer.message, answer.keeps_place ? letter.url.replace(/(submit|skip)\/$/, "") : "");
    }
    store.keepOutbox(root.dataset.campaign, rest);
  }
}

// Loading

function have() {
  const gone = store.outbox(root.dataset.campaign).map((letter) => letter.assignment);
  return [assignment(), ...ready.map((one) => one.assignment), ...gone].filter(Boolean);
}

async function piece(url) {
  const answer = await fetch(url, { redirect: "manual" });
  if (answer.type === "opaqueredirect") throw new Error("You are signed out. Sign in again in another tab, then reload this page.");
  if (answer.status === 204) return "";
  if (!answer.ok) {
    const content = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : {};
    throw new Error(content.message || `The server answered ${answer.status}.`);
  }
  return answer.text();
}

function loadAhead() {
  loading ??= fetchAhead().catch(() => {}).finally(() => { loading = null; });
  return loading;
}

async function fetchAhead() {
  while (ready.length < AHEAD) {
    const html = await piece(`${root.dataset.next}?have=${have().join(",")}`);
    const id = idOf(html);
    if (!id || have().includes(id)) return;
    ready.push({ assignment: id, html });
  }
}

async function forward() {
  // Whoever changes an earlier answer comes back to the item they left.
  const gone = new Set(store.outbox(root.dataset.campaign).map((letter) => letter.assignment));
  ready = ready.filter((one) => !gone.has(one.assignment));
  if (ready.length) {
    show(ready.shift().html);
    flush().then(loadAhead);
    return;
  }
  stage().setAttribute("aria-busy", "true");
  const sent = await flush();
  try {
    await loading;
    if (ready.length) show(ready.shift().html);
    else show(await piece(`${root.dataset.next}?have=${have().filter((id) => id !== assignment()).join(",")}`));
    loadAhead();
  } catch (error) {
    if (sent) trouble(error.message);
    else sayWaiting();
    stage().querySelector("[data-task]")?.setAttribute("inert", "");
  } finally {
    stage().removeAttribute("aria-busy");
  }
}

export async function back() {
  const leaving = assignment() && !task().hasAttribute("data-submitted") ? { assignment: assignment(), html: stage().innerHTML } : null;
  await flush();
  const before = task()?.hasAttribute("data-submitted") ? assignment() : "";
  try {
    const html = await piece(`${root.dataset.back}?fragment&before=${before}`);
    if (!html) { say("There is no answer before this one."); return; }
    if (leaving) ready.unshift(leaving);
    show(html);
  } catch (error) { trouble(error.message); }
}

function show(html) {
  const fold = stage().querySelector("[data-source-fold]")?.open;
  stage().innerHTML = html;
  const now = stage().querySelector("[data-source-fold]");
  if (now && fold !== undefined) now.open = fold;
  window.scrollTo(0, 0);
  begin();
}

function begin(first = false) {
  const event = new CustomEvent("task", { detail: { first } });
  if (form()) {
    const kept = store.draft(assignment());
    clock.start(Math.max(Number(task().dataset.seconds || 0), Number(kept?.seconds || 0)));
    if (kept && (!kept.sent || kept.number >= Number(task().dataset.draftNumber))) {
      fill(kept.fields);
      if (!kept.sent) saving = sendDraft(assignment());
    }
    document.dispatchEvent(event);
    const next = missing() || stage().querySelector("[data-question]");
    (next?.querySelector("input:checked") || next?.querySelector("input"))?.focus({ preventScroll: true });
  } else {
    document.dispatchEvent(event);
  }
}

async function retry() {
  if (!store.outbox(root.dataset.campaign).length) {
    if (form()) { const kept = store.draft(assignment()); if (kept && !kept.sent) saving = sendDraft(assignment()); }
    return;
  }
  const stuck = task()?.hasAttribute("inert");
  if (await flush() && stuck) forward();
  else loadAhead();
}

// Called once, when all that listens to `task` is there.
export async function start() {
  root = document.querySelector("[data-annotate]");
  begin(true);
  const waiting = store.outbox(root.dataset.campaign);
  if (waiting.length) {
    const mine = waiting.some((letter) => letter.assignment === assignment());
    if (await flush() && mine) await forward();
  }
  loadAhead();
  setInterval(retry, RETRY_WAIT);
  addEventListener("online", retry);
}

document.addEventListener("input", (event) => { if (event.target.closest?.("[data-answer]")) changed(); });
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-answer]")) { event.preventDefault(); submit(); }
  if (event.target.matches("[data-skip]")) skip(event);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-action=back]") && !event.ctrlKey && !event.metaKey) { event.preventDefault(); back(); }
});
