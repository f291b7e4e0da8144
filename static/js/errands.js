// A form that waits for an endpoint's answer is sent once the answer is here: its part of the page then has
// `data-goes-on`. Nothing that was typed is lost on the way.
document.addEventListener("htmx:load", (event) => {
  const part = event.detail.elt;
  if (part instanceof HTMLElement && "goesOn" in part.dataset) part.closest("form")?.requestSubmit();
});
