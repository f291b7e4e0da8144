// A form that waits for an endpoint's answer is sent once the answer is here: its part of the page then has
// `data-goes-on`. Nothing that was typed is lost on the way.
// Who leaves such a form before that is asked first: it is stored nowhere else.
let isSent = false;
document.addEventListener("submit", () => { isSent = true; });
window.addEventListener("beforeunload", (event) => {
  if (!isSent && document.querySelector("form [data-waits]")) event.preventDefault();
});

document.addEventListener("htmx:load", (event) => {
  const part = event.detail.elt;
  const form = part instanceof HTMLElement && "goesOn" in part.dataset && part.closest("form");
  if (!form) return;
  form.noValidate = true; // a form that waited for the models to choose from has none yet
  form.requestSubmit();
});
