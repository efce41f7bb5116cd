// SPDX-License-Identifier: MIT
// Draws the graph and the histograms, opens rows, and sorts the table.
"use strict";
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("table");
  const options = { renderer: "svg", actions: false };

  // Bars of binades, those beyond the format apart, over the format's range.
  const histogramOf = (layer) => {
    const spec = structuredClone(data.histogram);
    const range = layer.format_exponents;
    const total = layer.count || 1;
    spec.datasets.binades = Object.entries(layer.exponents || {}).map(([text, count]) => {
      const first = Number(text);
      const isBeyond = range && (first < range[0] || first > range[1]);
      return {
        first,
        last: first + 1,
        share: count / total,
        place: isBeyond ? "beyond the format" : "in range",
      };
    });
    if (range) spec.datasets.range = [{ first: range[0], last: range[1] + 1 }];
    return spec;
  };

  const bodyOf = (place) => table.querySelector(`tbody[data-layer="${place}"]`);

  const toggle = (body, isOpen) => {
    const button = body.querySelector("th button");
    const detail = body.rows[1];
    button.setAttribute("aria-expanded", String(isOpen));
    detail.hidden = !isOpen;
    const chart = detail.querySelector(".histogram");
    if (isOpen && !chart.hasChildNodes())
      vegaEmbed(chart, histogramOf(data.layers[Number(body.dataset.layer)]), options);
  };

  const show = (body) => {
    toggle(body, true);
    body.scrollIntoView({ block: "center" });
    body.querySelector("th button").focus({ preventScroll: true });
  };

  for (const body of table.tBodies) {
    const button = body.querySelector("th button");
    button.addEventListener("click", () =>
      toggle(body, button.getAttribute("aria-expanded") !== "true"));
  }

  for (const link of document.querySelectorAll("a[data-layer]"))
    link.addEventListener("click", (event) => {
      const place = data.layers.findIndex((layer) => layer.name === link.dataset.layer);
      event.preventDefault();
      show(bodyOf(place));
    });

  // A column by its numbers, else by its text; once more the other way.
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) =>
    header.querySelector("button").addEventListener("click", () => {
      const isUp = header.getAttribute("aria-sort") !== "ascending";
      for (const other of headers) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      const keyOf = (body) => {
        const cell = body.rows[0].cells[column];
        return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
      };
      const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
      [...table.tBodies]
        .map((body) => [keyOf(body), body])
        .sort(([a], [b]) => (isUp ? compare(a, b) : compare(b, a)))
        .forEach(([, body]) => table.append(body));
    }));

  vegaEmbed("#graph", data.graph, options).then(({ view }) => {
    document.getElementById("measure").addEventListener("change", (event) =>
      view.signal("measure", event.target.value).runAsync());
    view.addEventListener("click", (event, item) => {
      if (item && item.datum && "layer" in item.datum) show(bodyOf(item.datum.layer));
    });
  });
}
