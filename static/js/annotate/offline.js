// Items for an hour without a connection. The page, its files and the items are kept in a cache of
// this person until their lease ends; worker.js answers from it. Answers wait in the outbox.
import * as flow from "./flow.js";
import { forget, nameOf } from "./kept.js";
import { counted, word } from "./words.js";

const LEAST = 40; // with fewer at hand, more are taken along
const root = document.querySelector("[data-annotate]");
const drawer = document.querySelector("[data-along]");
const name = nameOf(root.dataset.campaign, root.dataset.person);
const files = new URL("../../", import.meta.url).href;
let taking = null;
let resuming = null;

const part = (selector) => drawer.querySelector(selector);
const isChosen = async () => Boolean(await globalThis.caches?.has(name));

async function take() {
  try {
    const { pieces, until } = await flow.takeAlong(drawer.dataset.along);
    const cache = await caches.open(name);
    const page = await fetch(drawer.dataset.base);
    const headers = new Headers(page.headers);
    headers.set("X-Kept-Until", until);
    const html = (await page.text()).replace("data-annotate ", "data-annotate data-kept ");
    await cache.put(drawer.dataset.base, new Response(html, { headers }));
    await cache.put(drawer.dataset.along, Response.json({ pieces, until }));
    const loaded = performance.getEntriesByType("resource").map((file) => file.name);
    await cache.addAll(loaded.filter((file) => file.startsWith(files)));
    await navigator.serviceWorker.register(`${drawer.dataset.base}worker.js`);
    await navigator.serviceWorker.ready;
    say(pieces.length, until);
  } catch (error) {
    part("[data-kept-items]").textContent = navigator.onLine ? error.message : word("offline");
  }
}

function say(count, until) {
  const language = document.documentElement.lang;
  const time = new Date(until).toLocaleTimeString(language, { timeStyle: "short" });
  part("[data-kept-items]").textContent = word("along", { time, count: counted(count) });
  part("[data-leave]").hidden = false;
}

function takeOnce() {
  taking ??= take().finally(() => { taking = null; });
  return taking;
}

async function leave() {
  await caches.delete(name);
  await (await navigator.serviceWorker.getRegistration(drawer.dataset.base))?.unregister();
  part("[data-kept-items]").textContent = "";
  part("[data-leave]").hidden = true;
}

// What was taken along is at hand again. A browser may refuse to keep anything, as in a private window.
export function resume() {
  resuming ??= resumeKept().catch(() => {});
  return resuming;
}

async function resumeKept() {
  if (!drawer || !("serviceWorker" in navigator)) return;
  drawer.hidden = false;
  part("[data-take]").addEventListener("click", takeOnce);
  part("[data-leave]").addEventListener("click", leave);
  await forget(root.dataset.person);
  if (!await isChosen()) return;
  const kept = await (await caches.open(name)).match(drawer.dataset.along);
  const { pieces, until } = await kept?.json() ?? { pieces: [], until: 0 };
  if (new Date(until) < new Date()) { await leave(); return; }
  flow.keepReady(pieces);
  say(pieces.length, until);
}

document.addEventListener("task", async () => {
  await resume(); // until then it is not known how many are at hand
  if (!drawer || !navigator.onLine || flow.countReady() >= LEAST) return;
  if (await isChosen().catch(() => false)) takeOnce();
});
