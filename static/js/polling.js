// Parts of a page that htmx fetches again every few seconds rest while nobody can see them (a tab in the background,
// a folded part), are fetched at once when their tab is looked at again, and stay as they are once the server refuses.
const POLLED = "[hx-trigger^=every]";
const refused = new WeakSet();

document.addEventListener("htmx:beforeRequest", (event) => {
  const part = event.detail.elt;
  if (!part.matches(POLLED)) return;
  if (document.hidden || !part.checkVisibility() || refused.has(part)) event.preventDefault();
});

document.addEventListener("visibilitychange", () => {
  for (const part of document.querySelectorAll(POLLED)) part.dispatchEvent(new Event("seen"));
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { elt: part, pathInfo, xhr } = event.detail;
  if (!part.matches(POLLED)) return;
  if (xhr.status === 403 || xhr.status === 404) refused.add(part);
  // Somebody who has signed out meanwhile is sent to the page to sign in, which does not belong in here.
  const asked = new URL(pathInfo.requestPath, location.href);
  if (new URL(xhr.responseURL).pathname !== asked.pathname) event.detail.shouldSwap = false;
});

// What a person has unfolded stays unfolded when newer numbers take its place.
let unfolded = [];
document.addEventListener("htmx:beforeSwap", (event) => {
  unfolded = [...event.detail.target.querySelectorAll("details[id][open]")].map((part) => part.id);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
});
