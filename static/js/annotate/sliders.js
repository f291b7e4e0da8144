// Sliders beside fields of numbers: each moves the other.
const both = (question) => [question?.querySelector("input[type=number]"), question?.querySelector("input[type=range]")];

// A click where the slider already is chooses this number too.
for (const kind of ["input", "click"]) {
  document.addEventListener(kind, (event) => {
    const [field, slider] = both(event.target.closest?.("[data-question]"));
    if (!slider) return;
    if (event.target === field && field.value) slider.value = field.value;
    if (event.target !== slider || field.value === slider.value) return;
    field.value = slider.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
// A number and "not applicable" exclude each other.
document.addEventListener("input", (event) => {
  const question = event.target.closest?.("[data-question]");
  const [field, box] = [both(question)[0], question?.querySelector("[type=checkbox][data-not-applicable]")];
  if (!field || !box) return;
  if (event.target === box && box.checked) field.value = "";
  else if (field.value) box.checked = false;
});
document.addEventListener("task", () => {
  for (const slide of document.querySelectorAll("[data-slide]")) {
    const [field, slider] = both(slide.closest("[data-question]"));
    slide.hidden = false;
    if (field.value) slider.value = field.value;
  }
});
