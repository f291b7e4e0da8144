// Fields that only some choices ask for are shown with these choices. Without this script all are shown, and the server
// takes those that the choice asks for.
for (const control of document.querySelectorAll("[data-shown-by]")) {
  const choice = control.form.elements.namedItem(control.dataset.shownBy);
  const choices = control.dataset.shownFor.split(" ");
  const isFixed = control.disabled;
  const show = () => {
    const isAsked = choices.includes(choice.value);
    control.closest(".field").hidden = !isAsked;
    // What was typed stays in the page, and is not sent.
    control.disabled = isFixed || !isAsked;
  };
  choice.addEventListener("change", show);
  window.addEventListener("pageshow", show); // a browser that goes back restores the choice
  show();
}
