// The table of attributes by keyboard: one row is a tab stop at a time, the arrow keys go to the next row, and a box ticks all.
const table = document.querySelector("table[data-rows]");
if (table) {
  const rows = [...table.tBodies[0].rows];
  const fields = (row) => [...row.querySelectorAll("a, input:not([type=hidden]), select, summary")];
  const choose = (chosen) => {
    for (const row of rows) for (const field of fields(row)) field.tabIndex = row === chosen ? 0 : -1;
  };
  choose(rows[0]);
  table.addEventListener("focusin", (event) => {
    const row = event.target.closest("tbody tr");
    if (row) choose(row);
  });
  table.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("tbody tr");
    // in a list or a number the arrows change the value
    if (!step || !row || (event.target.type !== "checkbox" && event.target.tagName !== "A")) return;
    const next = rows[rows.indexOf(row) + step];
    if (!next) return;
    event.preventDefault();
    choose(next);
    fields(next)[fields(row).indexOf(event.target)]?.focus();
  });
  const boxes = rows.map((row) => row.querySelector("input[name=pick]")).filter(Boolean);
  const all = document.querySelector("[data-tick-all]");
  const count = document.querySelector("[data-ticked]");
  const show = () => { if (count) count.textContent = String(boxes.filter((box) => box.checked).length); };
  if (all) {
    all.closest("label").hidden = false;
    all.addEventListener("change", () => { for (const box of boxes) box.checked = all.checked; show(); });
  }
  table.addEventListener("change", show);
  show();
}
