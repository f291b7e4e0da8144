// What is typed, kept in this browser until the server has it: a draft for each item, and answers on their way.
const read = (key, empty) => {
  try { return JSON.parse(localStorage.getItem(key)) ?? empty; } catch { return empty; }
};
const write = (key, value) => {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch { /* private windows may refuse; the server's draft remains */ }
};
const draftKey = (assignment) => `geval-draft-${assignment}`;
const outboxKey = (campaign) => `geval-outbox-${campaign}`;

export const draft = (assignment) => read(draftKey(assignment), null);
export const keepDraft = (assignment, kept) => write(draftKey(assignment), kept);
export const dropDraft = (assignment) => write(draftKey(assignment), null);
export const outbox = (campaign) => read(outboxKey(campaign), []);
export const keepOutbox = (campaign, letters) => write(outboxKey(campaign), letters.length ? letters : null);
