// The flow: every change is kept here and on the server, an answer goes into an outbox and from there to the server,
// the next item is loaded ahead. While the network is away, the items at hand can be done; all is sent when it is back.
import * as clock from "./clock.js";
import * as store from "./store.js";
import { counted, timeNow, word } from "./words.js";

const AHEAD = 2;
const DRAFT_WAIT = 250;
const RETRY_WAIT = 2500;
const root = document.querySelector("[data-annotate]"); // the element with the campaign's addresses
let ready = []; // pieces loaded ahead: {assignment, html}
let draftTimer = 0;
let saving = Promise.resolve();
let flushing = null;
let forwarding = null;
let loading = null;
let wasSame = false; // whether the trouble that is shown is of a best that is the worst
let isSignedOut = false;
let areGuidelinesNew = false; // since this page was shown: a new page has them before the next answer

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
    anchor.textContent = word("open_item");
    box.append(" ", anchor);
  }
}

function sayWaiting() {
  const waiting = store.outbox(box()).length;
  say(waiting ? word("waiting", { count: counted(waiting) }) : word("offline"));
}

// Sending

const headers = () => ({ Accept: "application/json", "X-Annotator": root.dataset.person });
const box = () => `${root.dataset.campaign}-${root.dataset.person}`;

async function send(url, values, again = false) {
  const body = new URLSearchParams({ ...values, csrfmiddlewaretoken: root.dataset.token });
  const answer = await fetch(url, { method: "POST", body, headers: headers(), redirect: "manual" });
  if (answer.status >= 500) throw new Error("the server could not answer");
  const { why: refusal, content, isOutdated } = await standing(answer);
  // Whoever signed in again has a new token; with it the same letter goes again, once.
  const isRenewed = isOutdated && !again;
  const why = isRenewed ? await renewToken() : refusal;
  if (isRenewed && !why) return send(url, values, true);
  if (why) {
    isSignedOut = true;
    return { status: 401, message: why };
  }
  if (isSignedOut) trouble("");
  isSignedOut = false;
  return { status: answer.status, ...content, message: content.message || word("refused") };
}

// What an answer holds, and why it is none: `why` is empty unless somebody else or nobody is signed in. The server refuses what one person's page sends in another's name.
async function standing(answer) {
  const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
  const content = isJson ? await answer.json() : {};
  if (answer.status === 401) return { content, why: word("other_person") };
  if (answer.type === "opaqueredirect") return { content, why: word("signed_out") };
  return { content, why: "", isOutdated: answer.status === 403 && !isJson };
}

// Why there is no new token; empty if there is.
async function renewToken() {
  const answer = await fetch(root.dataset.renew, { headers: headers(), redirect: "manual" });
  const { why, content } = await standing(answer);
  if (content.token) root.dataset.token = content.token;
  return why || (content.token ? "" : word("signed_out"));
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
    if (id === assignment()) say(word("saved", { time: timeNow() }));
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
      trouble(word("same"));
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
    trouble(word("answer_first", { question: lacks.querySelector("legend").textContent }));
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
  store.keepOutbox(box(), [...store.outbox(box()).filter((other) => other.assignment !== letter.assignment), letter]);
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
  store.keepOutbox(box(), [...store.outbox(box()), letter]);
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
    const letter = store.outbox(box())[0];
    if (!letter) return true;
    let answer;
    try {
      answer = await send(letter.url, letter.fields);
    } catch {
      sayWaiting();
      return false;
    }
    if (answer.status === 401) { trouble(answer.message); return false; }
    const rest = store.outbox(box()).filter((other) => other.assignment !== letter.assignment || other.fields.number !== letter.fields.number);
    if (answer.status === 200) {
      areGuidelinesNew ||= Boolean(answer.guidelines_changed);
      store.dropDraft(letter.assignment);
      say(letter.skip ? word("skipped") : answer.corrected ? word("corrected") : word("submitted", { time: timeNow() }));
    } else {
      if (!letter.skip) store.keepDraft(letter.assignment, { fields: letter.fields, number: Date.now(), seconds: letter.fields.seconds, url: letter.draftUrl, sent: false });
      trouble(answer.message, answer.keeps_place ? letter.url.replace(/(submit|skip)\/$/, "") : "");
    }
    store.keepOutbox(box(), rest);
  }
}

// Loading

function have() {
  const gone = store.outbox(box()).map((letter) => letter.assignment);
  return [assignment(), ...ready.map((one) => one.assignment), ...gone].filter(Boolean);
}

async function piece(url) {
  const answer = await fetch(url, { headers: { "X-Annotator": root.dataset.person }, redirect: "manual" });
  if (answer.type === "opaqueredirect") throw new Error(word("signed_out"));
  if (answer.status === 204) return "";
  if (!answer.ok) {
    const content = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : {};
    throw new Error(content.message || word(answer.status === 401 ? "other_person" : "no_answer"));
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

// What an answer leaves and what the start of a page leaves may ask at the same time: one goes on, for both.
function forward() {
  forwarding ??= goForward().finally(() => { forwarding = null; });
  return forwarding;
}

async function goForward() {
  // Whoever changes an earlier answer comes back to the item they left.
  const gone = new Set(store.outbox(box()).map((letter) => letter.assignment));
  ready = ready.filter((one) => !gone.has(one.assignment));
  if (ready.length) {
    show(ready.shift().html);
    flush().then(() => {
      if (areGuidelinesNew) location.assign(root.dataset.next.replace(/next\/$/, ""));
      else loadAhead();
    });
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
    else if (!isSignedOut) sayWaiting();
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
    if (!html) { say(word("no_earlier")); return; }
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
  // A new item is announced, and reading begins at its text.
  document.getElementById("announced").textContent = `${word("new_item")}: ${stage().querySelector("[data-done]")?.textContent.trim() ?? ""}`;
  (stage().querySelector("[data-output]") ?? task())?.focus({ preventScroll: true });
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
  } else {
    document.dispatchEvent(event);
  }
}

async function retry() {
  const stuck = task()?.hasAttribute("inert");
  if (!store.outbox(box()).length) {
    const kept = form() && store.draft(assignment());
    if (kept && !kept.sent) saving = sendDraft(assignment());
    else if (isSignedOut) { // whoever signed in again has another page of these tasks, which sent it
      isSignedOut = false;
      trouble("");
      if (stuck) forward();
    }
    return;
  }
  if (await flush() && stuck) forward();
  else loadAhead();
}

// Called once, when all that listens to `task` is there.
export async function start() {
  begin(true);
  const waiting = store.outbox(box());
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
