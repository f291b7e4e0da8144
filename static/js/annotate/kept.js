// What is kept in this browser for work without a connection, by whose it is.
const NAMES = "geval-offline-";

export const nameOf = (campaign, person) => `${NAMES}${campaign}-${person}`;

// Forget what others took along in this browser; without a person, all.
export async function forget(person = "") {
  for (const name of await globalThis.caches?.keys() ?? []) {
    const isOwn = person && name.endsWith(`-${person}`);
    if (name.startsWith(NAMES) && !isOwn) await caches.delete(name);
  }
}
