// Moving through a conversation by turn: [ and ]. The turn in focus is the place; without one it begins at the end,
// next to what is rated. On a phone the conversation is folded, and opens.
const isTyping = (element) => element.matches("input:not([type=radio], [type=checkbox]), textarea, select");

export function step(by) {
  const lists = [...document.querySelectorAll("[data-turns]")];
  const here = document.activeElement?.closest?.("[data-turn]");
  const turns = lists.flatMap((list) => [...list.querySelectorAll(":scope > [data-turn]")]);
  if (!turns.length) return;
  const first = [...lists[0].querySelectorAll(":scope > [data-turn]")];
  const at = here ? turns.indexOf(here) + by : first.length - 1;
  const next = turns[Math.max(0, Math.min(turns.length - 1, at))];
  for (let fold = next.closest("details:not([open])"); fold; fold = next.closest("details:not([open])")) fold.open = true;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

if (!document.querySelector("[data-annotate]")) {
  // What is rated follows the last turn that is shown.
  const conversation = document.querySelector("[data-before]");
  if (conversation) conversation.scrollTop = conversation.scrollHeight;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key !== "[" && event.key !== "]") return;
    event.preventDefault();
    step(event.key === "]" ? 1 : -1);
  });
}
