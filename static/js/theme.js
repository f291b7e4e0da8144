// The light/dark switch. A classic script that blocks the page until it has run: modules wait until the page has been
// read, and a page that was painted in the other theme by then would flash. Hence also the function around it all.
(() => {
  const root = document.documentElement;
  const kept = localStorage.getItem("theme");
  if (kept) root.dataset.theme = kept;
  const isDark = () => root.dataset.theme === "dark"
    || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-switch]");
    if (!button) return;
    const name = () => { button.textContent = isDark() ? button.dataset.light : button.dataset.dark; };
    button.hidden = false;
    name();
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.theme);
      name();
      document.dispatchEvent(new Event("themechange"));
    });
  });
})();
