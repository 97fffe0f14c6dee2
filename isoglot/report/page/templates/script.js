// Draws the charts near the window, in the colours of the theme; shows or hides the paper's numbers; saves pictures as
// PNG; unfolds on paper.
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
      const [spec, look] = [themed(charts[place.dataset.chart]), themed(config)];
      look.legend.columns = Math.max(1, Math.floor(place.clientWidth / spec.usermeta.legendEntry));
      const options = { config: look, renderer: "svg", actions: false, ast: true };
      options.tooltip = { theme: dark.matches ? "dark" : "light" };
      const { view } = await vegaEmbed(place, spec, options);
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
    const redraw = () => [...views.keys()].forEach(draw);
    dark.addEventListener("change", redraw);
    // A phone that is turned has room for other legends; one that is scrolled changes its height alone.
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (width !== window.innerWidth) redraw();
      width = window.innerWidth;
    });
  }

  const switches = document.querySelectorAll("button[data-switch]");
  for (const button of switches) {
    button.addEventListener("click", () => {
      showsPaper = !root.classList.toggle("without-published");
      switches.forEach((each) => each.setAttribute("aria-pressed", String(showsPaper)));
      views.forEach((view) => view.signal("paper", showsPaper).runAsync());
    });
  }

  // From the drawing in the page, as a page that was published or mailed has no files of pixels beside it.
  const save = async ({ currentTarget: button }) => {
    const drawing = button.closest("figure").querySelector(".still svg");
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(drawing))}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    // Twice as large: sharp on a printed page.
    [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const link = document.createElement("a");
    [link.download, link.href] = [`${button.dataset.name}.png`, canvas.toDataURL("image/png")];
    link.click();
  };
  document.querySelectorAll("button.png").forEach((button) => button.addEventListener("click", save));

  // Values that show on hover cannot be had on paper otherwise.
  let unfolded = [];
  window.addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details.on-paper:not([open])")];
    unfolded.forEach((each) => (each.open = true));
  });
  window.addEventListener("afterprint", () => unfolded.forEach((each) => (each.open = false)));
})();
