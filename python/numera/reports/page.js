// SPDX-License-Identifier: MIT
// Draws the graph and the histograms of a report.
{
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
    if (layer.normal != null && layer.normal > range[0])
      spec.datasets.normal = [{ first: layer.normal }];
    spec.description = `histogram of exponents of ${layer.name}`;
    return spec;
  };
  const draw = (chart, place) =>
    vegaEmbed(chart, histogramOf(data.layers[place]), options);

  makeRowsOpen(draw);
  for (const link of document.querySelectorAll("a[data-layer]"))
    link.addEventListener("click", (event) => {
      const place = data.layers.findIndex((layer) => layer.name === link.dataset.layer);
      event.preventDefault();
      show(bodyOf(place), draw);
    });

  vegaEmbed("#graph", data.graph, options).then(({ view }) => {
    const frame = document.querySelector(".graph");
    frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2;
    document.getElementById("measure").addEventListener("change", (event) =>
      view.signal("measure", event.target.value).runAsync());
    view.addEventListener("click", (event, item) => {
      if (item && item.datum && "layer" in item.datum) show(bodyOf(item.datum.layer), draw);
    });
  });
}
