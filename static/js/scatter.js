// Draws the scatter charts of a page from the JSON beside them, in the colours of the current theme.
(() => {
  const symbols = ["circle", "square", "diamond", "cross", "triangle-up", "x", "star", "triangle-down", "pentagon"];

  function draw(element) {
    const figure = JSON.parse(document.getElementById(element.dataset.figure).textContent);
    const style = getComputedStyle(document.documentElement);
    const token = (name) => style.getPropertyValue(name).trim();
    const colours = token("--series").split(",").map((colour) => colour.trim());
    const axis = { gridcolor: token("--line"), zerolinecolor: token("--line"), linecolor: token("--quiet"), automargin: true };
    const [low, high] = figure.range;
    const pad = (high - low) * 0.05;
    const traces = figure.series.map((series, index) => ({
      type: "scatter",
      mode: "markers",
      name: series.name,
      x: series.x,
      y: series.y,
      text: series.text,
      hovertemplate: "%{text}<br>people %{x:.2f}, judge %{y:.2f}<extra>%{fullData.name}</extra>",
      visible: index < 2 ? true : "legendonly",
      marker: {
        color: colours[series.series % colours.length],
        symbol: symbols[series.series % symbols.length],
        size: 8,
        opacity: 0.65,
      },
    }));
    Plotly.react(element, traces, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: token("--ink"), family: getComputedStyle(document.body).fontFamily, size: 13 },
      margin: { l: 56, r: 16, t: 8, b: 48 },
      xaxis: { ...axis, title: { text: figure.x_title }, range: [low - pad, high + pad] },
      yaxis: { ...axis, title: { text: figure.y_title }, rangemode: "normal" },
      legend: { orientation: "h", y: -0.2, yanchor: "top" },
      showlegend: true,
      hovermode: "closest",
    }, { displayModeBar: false, responsive: true });
  }

  const drawAll = () => document.querySelectorAll("[data-figure]").forEach(draw);
  document.addEventListener("DOMContentLoaded", drawAll);
  document.addEventListener("themechange", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
