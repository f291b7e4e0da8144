// Draws the charts of a page when they come into sight, from the figures the server gives, in the theme's colours.
const sections = () => [...document.querySelectorAll("[data-figure]")];
const figures = new WeakMap();
let waiting = 0;
let library = null;
// Style elements that the bundle would add, which our policy refuses with an error in the console. It leaves them out
// where these ids are taken: its own rules, of which site.css has those that matter, and those of its maps.
const OWN_RULES = ["plotly.js-style-global", "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"];

// Its bundle is no module, and of megabytes: it is loaded when the first chart comes into sight.
function plotly() {
  library ??= new Promise((resolve, reject) => {
    for (const id of OWN_RULES) {
      const reserved = document.createElement("meta");
      reserved.id = id;
      reserved.className = "no-inline-styles";
      document.head.append(reserved);
    }
    const script = document.createElement("script");
    script.src = document.querySelector("[data-plotly]").dataset.plotly;
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => {
      library = null;
      reject(new Error("The chart could not be loaded; the table has the numbers."));
    });
    document.head.append(script);
  });
  return library;
}

function coloured(value, style, colours) {
  if (typeof value === "string") {
    if (value.startsWith("--")) return style.getPropertyValue(value).trim();
    if (value.startsWith("series:")) return colours[Number(value.slice(7)) % colours.length];
    return value;
  }
  if (Array.isArray(value)) return typeof value[0] === "number" && typeof value.at(-1) === "number" ? value : value.map((one) => coloured(one, style, colours));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, coloured(one, style, colours)]));
  }
  return value;
}

function draw(section) {
  const figure = figures.get(section);
  if (!figure) return;
  const style = getComputedStyle(document.documentElement);
  const token = (name) => style.getPropertyValue(name).trim();
  const colours = token("--series").split(",").map((colour) => colour.trim());
  const axis = { gridcolor: token("--line"), zerolinecolor: token("--line"), linecolor: token("--quiet"), automargin: true };
  const layout = {
    paper_bgcolor: token("--paper"),
    plot_bgcolor: token("--paper"),
    font: { color: token("--ink"), family: getComputedStyle(document.body).fontFamily, size: 13 },
    margin: { l: 56, r: 16, t: 8, b: 48 },
    legend: { orientation: "h", y: section.clientWidth < 500 ? -0.34 : -0.2, yanchor: "top" },
    hovermode: "closest",
    showlegend: figure.traces.length > 1,
    ...coloured(figure.layout, style, colours),
  };
  for (const name of ["xaxis", "yaxis", "xaxis2", "yaxis2"]) {
    if (name.length === 5 || layout[name]) layout[name] = { ...axis, ...layout[name] };
  }
  section.querySelector("[data-caption]").textContent = figure.caption;
  window.Plotly.react(section.querySelector(".chart"), coloured(figure.traces, style, colours), layout, { displayModeBar: false, responsive: true });
  for (const button of section.querySelectorAll("[data-picture]")) button.hidden = false;
}

async function load(section) {
  waiting += 1;
  try {
    const answer = await fetch(section.dataset.figure);
    if (answer.status === 202) throw new Error(await answer.text()); // a worker is still drawing it
    if (!answer.ok) throw new Error(`The chart could not be loaded (${answer.status}); the table has the numbers.`);
    await plotly();
    figures.set(section, await answer.json());
    draw(section);
  } catch (error) {
    section.querySelector("[data-caption]").textContent = error.message;
  } finally {
    waiting -= 1;
    document.documentElement.dataset.charts = waiting ? "drawing" : "drawn";
  }
}

const watcher = new IntersectionObserver((seen) => {
  for (const one of seen) {
    if (one.isIntersecting) {
      watcher.unobserve(one.target);
      load(one.target);
    }
  }
}, { rootMargin: "200px" });
sections().forEach((section) => watcher.observe(section));
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-picture]");
  if (!button) return;
  const section = button.closest("[data-figure]");
  const chart = section.querySelector(".chart");
  window.Plotly.downloadImage(chart, { format: button.dataset.picture, filename: section.dataset.name, width: chart.clientWidth, height: chart.clientHeight, scale: button.dataset.picture === "png" ? 2 : 1 });
});
// New numbers: charts that were drawn are drawn again.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.elt.id !== "report-numbers") return;
  document.getElementById("figures")?.dispatchEvent(new Event("fresh"));
  sections().filter((section) => figures.has(section)).forEach(load);
});
const drawAll = () => sections().forEach(draw);
document.addEventListener("themechange", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
