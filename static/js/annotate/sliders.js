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
document.addEventListener("task", () => {
  for (const slide of document.querySelectorAll("[data-slide]")) {
    const [field, slider] = both(slide.closest("[data-question]"));
    slide.hidden = false;
    if (field.value) slider.value = field.value;
  }
});
