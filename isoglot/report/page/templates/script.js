// Draws the charts near the window, in the colours of the theme; shows or hides the paper's numbers; unfolds on paper.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const data = document.getElementById("charts");
  const views = new Map();
  let showsPaper = true;

  if (data) {
    const { charts, config, colours } = JSON.parse(data.textContent);

    // Charts are written in light colours, each of which has its counterpart.
    const themed = (spec) => {
      let text = JSON.stringify(spec);
      for (const [light, counterpart] of dark.matches ? Object.entries(colours) : []) {
        text = text.replaceAll(`"${light}"`, `"${counterpart}"`);
      }
      return JSON.parse(text);
    };

    const draw = async (place) => {
      place.closest("figure").classList.add("drawn");
      views.get(place)?.finalize();
      const options = { config: themed(config), renderer: "svg", actions: false, ast: true };
      options.tooltip = { theme: dark.matches ? "dark" : "light" };
      const { view } = await vegaEmbed(place, themed(charts[place.dataset.chart]), options);
      views.set(place, view);
      view.signal("paper", showsPaper).runAsync();
    };

    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
          observer.unobserve(target);
          target.querySelectorAll(".chart").forEach(draw);
        }
      },
      { rootMargin: "600px" },
    );
    document.querySelectorAll("figure").forEach((figure) => observer.observe(figure));
    dark.addEventListener("change", () => [...views.keys()].forEach(draw));
  }

  const switches = document.querySelectorAll("button[data-switch]");
  for (const button of switches) {
    button.addEventListener("click", () => {
      showsPaper = !root.classList.toggle("without-published");
      switches.forEach((each) => each.setAttribute("aria-pressed", String(showsPaper)));
      views.forEach((view) => view.signal("paper", showsPaper).runAsync());
    });
  }

  // Values that show on hover cannot be had on paper otherwise.
  let unfolded = [];
  window.addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details.on-paper:not([open])")];
    unfolded.forEach((each) => (each.open = true));
  });
  window.addEventListener("afterprint", () => unfolded.forEach((each) => (each.open = false)));
})();
