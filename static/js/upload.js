// Choosing files by dropping them, with their names and sizes shown, and a sign that they are being sent.
const form = document.querySelector("[data-upload]");
const zone = form.querySelector("[data-drop]");
const input = zone.querySelector("input[type=file]");
const list = zone.querySelector("[data-chosen]");

function size(bytes) {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function show() {
  list.replaceChildren(...[...input.files].map((file) => {
    const item = document.createElement("li");
    item.textContent = `${file.name} (${size(file.size)})`;
    return item;
  }));
}

zone.querySelector("[data-drop-hint]").hidden = false;
for (const kind of ["dragenter", "dragover"]) {
  zone.addEventListener(kind, (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
}
for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("over"));
zone.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
  show();
});
input.addEventListener("change", show);
form.addEventListener("submit", () => { form.querySelector("[data-sending]").hidden = false; });
// Coming back by the browser's button shows the page as it was left.
window.addEventListener("pageshow", () => { form.querySelector("[data-sending]").hidden = true; show(); });
