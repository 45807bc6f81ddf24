// The values of a chart's bars: those of the bar under the pointer, or of the one that the arrow keys go to. Enter opens it.
function show(chart, bar) {
  chart.closest(".chart-frame").querySelector("[data-value]").textContent = bar.getAttribute("aria-label");
}

function goTo(bars, bar) {
  for (const other of bars) other.setAttribute("tabindex", other === bar ? "0" : "-1");
  bar.focus();
}

for (const chart of document.querySelectorAll("svg.chart")) {
  const bars = [...chart.querySelectorAll("a")];
  bars.at(-1)?.setAttribute("tabindex", "0"); // the newest day
  for (const name of ["pointerover", "focusin"]) {
    chart.addEventListener(name, ({ target }) => {
      const bar = target.closest("a");
      if (bar) show(chart, bar);
    });
  }
  chart.addEventListener("keydown", (event) => {
    const at = bars.indexOf(event.target.closest("a"));
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    goTo(bars, bars[Math.min(Math.max(to, 0), bars.length - 1)]);
  });
}
