// SPDX-License-Identifier: MIT
// A table whose rows open and whose columns sort; what all pages share.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const options = {
  renderer: "svg",
  actions: false,
  tooltip: { theme: isDark ? "dark" : "light" },
};
const table = document.getElementById("table");

const bodyOf = (place) => table.querySelector(`tbody[data-row="${place}"]`);

// Opens or closes a row; `draw` fills what it has for a chart.
const toggle = (body, isOpen, draw) => {
  const button = body.querySelector("th button");
  const detail = body.rows[1];
  button.setAttribute("aria-expanded", String(isOpen));
  detail.hidden = !isOpen;
  const chart = detail.querySelector(".histogram");
  if (isOpen && chart && !chart.hasChildNodes()) draw(chart, Number(body.dataset.row));
};

const show = (body, draw) => {
  toggle(body, true, draw);
  body.scrollIntoView({ block: "center" });
  body.querySelector("th button").focus({ preventScroll: true });
};

const makeRowsOpen = (draw) => {
  for (const body of table.tBodies) {
    const button = body.querySelector("th button");
    button.addEventListener("click", () =>
      toggle(body, button.getAttribute("aria-expanded") !== "true", draw));
  }
};

// A column by its numbers, else by its text; once more the other way.
{
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
}
