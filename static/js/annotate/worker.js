// While the network is away: the page of somebody's items and its files, from what they took along
// (offline.js). It stands alone, as it is served from an address of its own.
const NAMES = "geval-offline-";
const FILES = ["script", "style", "font", "image"];

addEventListener("fetch", (event) => {
  const { request } = event;
  const isPage = request.mode === "navigate";
  if (request.method !== "GET" || !(isPage || FILES.includes(request.destination))) return;
  const wanted = isPage ? globalThis.registration.scope : request;
  event.respondWith(fetch(request).catch(() => kept(wanted)));
});

async function kept(wanted) {
  for (const name of await caches.keys()) {
    if (!name.startsWith(NAMES)) continue;
    const answer = await (await caches.open(name)).match(wanted, { ignoreVary: true });
    if (!answer) continue;
    const until = answer.headers.get("X-Kept-Until");
    if (!until || new Date(until) > new Date()) return answer;
    await caches.delete(name);
  }
  return Response.error();
}
