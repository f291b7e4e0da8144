// The reader's colours, before the page is painted: those chosen last, or the system's.
const chosen = window.__md_get("__palette");
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const colours = (chosen && chosen.color) || {scheme: dark ? "slate" : "default"};
for (const [name, value] of Object.entries(colours))
  document.body.setAttribute(`data-md-color-${name}`, value);
