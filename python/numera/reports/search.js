// SPDX-License-Identifier: MIT
// Draws what a search tried and what each format adds.
{
  const draw = () => {};
  makeRowsOpen(draw);
  vegaEmbed("#trials", data.trials, options).then(({ view }) =>
    view.addEventListener("click", (event, item) => {
      if (item && item.datum && "trial" in item.datum) show(bodyOf(item.datum.trial), draw);
    }));
  vegaEmbed("#noises", data.noises, options);
}
