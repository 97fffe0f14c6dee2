// Exact values on hover, tap and arrow keys; the paper's numbers on and off; numbers unfolded on paper.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const tooltip = document.getElementById("tooltip");
  const NEAR = 26; // pixels
  let pointed = null;

  // What a browser would show after a second is told at once instead. The marks of a narrow picture are those of the
  // wide one beside it, in the same order, and their words stand there alone.
  for (const figure of document.querySelectorAll("figure")) {
    const said = [...figure.querySelectorAll(".wide svg title")].map((title) => title.textContent);
    for (const width of [".wide", ".narrow"]) {
      figure.querySelectorAll(`${width} svg title`).forEach((title, place) => {
        title.parentElement.dataset.said = said[place];
        title.remove();
      });
    }
  }

  const marksOf = (chart) => [...chart.querySelectorAll("[data-said]")].filter((mark) => mark.getClientRects().length);

  function hide() {
    pointed?.classList.remove("pointed");
    pointed = null;
    tooltip.hidden = true;
  }

  function show(mark) {
    if (mark !== pointed) {
      hide();
      pointed = mark;
      mark.classList.add("pointed");
      tooltip.textContent = mark.dataset.said;
    }
    tooltip.hidden = false;
    const box = mark.getBoundingClientRect();
    const size = tooltip.getBoundingClientRect();
    const x = box.left + box.width / 2 - size.width / 2;
    const above = box.top - size.height - 10;
    tooltip.style.left = `${Math.max(6, Math.min(x, window.innerWidth - size.width - 6))}px`;
    tooltip.style.top = `${above < 6 ? box.bottom + 10 : above}px`;
  }

  function distance(mark, x, y) {
    const box = mark.getBoundingClientRect();
    const across = Math.max(box.left - x, 0, x - box.right);
    const down = Math.max(box.top - y, 0, y - box.bottom);
    // Of marks under the pointer, the one whose middle is nearest.
    return Math.hypot(across, down) + Math.hypot(x - (box.left + box.right) / 2, y - (box.top + box.bottom) / 2) / 1000;
  }

  function nearest(chart, x, y) {
    let found = null;
    let least = NEAR;
    for (const mark of marksOf(chart)) {
      const apart = distance(mark, x, y);
      if (apart < least) {
        [found, least] = [mark, apart];
      }
    }
    return found;
  }

  const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

  // The next mark to a side: near in that direction, and not far off it.
  function beside(chart, mark, [right, down]) {
    const from = mark.getBoundingClientRect();
    let found = mark;
    let least = Infinity;
    for (const other of marksOf(chart)) {
      const box = other.getBoundingClientRect();
      const x = box.left + box.width / 2 - from.left - from.width / 2;
      const y = box.top + box.height / 2 - from.top - from.height / 2;
      const along = x * right + y * down;
      const off = Math.abs(x * down) + Math.abs(y * right);
      if (along > 0.5 && along + 3 * off < least) {
        [found, least] = [other, along + 3 * off];
      }
    }
    return found;
  }

  for (const chart of document.querySelectorAll("svg.chart")) {
    const point = (event) => {
      const mark = nearest(chart, event.clientX, event.clientY);
      if (mark) {
        show(mark);
      } else {
        hide();
      }
    };
    chart.addEventListener("pointermove", point);
    chart.addEventListener("pointerdown", point);
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        hide();
      } else if (event.key in STEPS) {
        event.preventDefault();
        const marks = marksOf(chart);
        const mark = pointed && chart.contains(pointed) ? beside(chart, pointed, STEPS[event.key]) : marks[0];
        if (mark) {
          show(mark);
        }
      }
    });
  }
  for (const bar of document.querySelectorAll("div.bar[data-said]")) {
    bar.tabIndex = 0;
    for (const kind of ["pointerenter", "pointerdown", "focus"]) {
      bar.addEventListener(kind, () => show(bar));
    }
    bar.addEventListener("pointerleave", hide);
    bar.addEventListener("blur", hide);
  }
  window.addEventListener("scroll", hide, { passive: true });

  const switches = document.querySelectorAll("button[data-switch]");
  for (const button of switches) {
    button.addEventListener("click", () => {
      const off = root.classList.toggle("without-published");
      for (const each of switches) {
        each.setAttribute("aria-pressed", String(!off));
      }
    });
  }

  // What one would hover for cannot be had on paper otherwise.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.on-paper:not([open])")];
    for (const each of folded) {
      each.open = true;
    }
  });
  window.addEventListener("afterprint", () => {
    for (const each of folded) {
      each.open = false;
    }
  });
})();
