// A table of any size in a window: only the cells in sight are in the page. Until the first rows are loaded, and where they cannot
// be, the page keeps the table that came with it and the links to its pages.
import { describeCell, drawCell, drawHeader } from "./grid_cells.js";
import { RowWindows } from "./row_windows.js";

const ROW_REM = 2.75;
const SPARE_ROWS = 4;
const SPARE_PIXELS = 160;
const TALLEST = 8_000_000; // browsers draw nothing beyond 17 to 33 million pixels, so a taller table is scrolled proportionally
const count = (number) => number.toLocaleString("en-US");

const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

// How wide each column must be for its name and the first rows, within bounds; longer values are cut and shown below the table.
function measureWidths(place, columns, rows) {
  const pen = document.createElement("canvas").getContext("2d");
  const style = getComputedStyle(place);
  pen.font = `${style.fontSize} ${style.fontFamily}`;
  const width = (text, extra) => pen.measureText(text).width * extra;
  return columns.map((column, at) => {
    const names = at < 2 ? column.name.split(" ") : [column.name, "99 % changed"]; // the first two names are broken into lines
    let widest = Math.max(...names.map((name) => width(name, at < 2 || name === column.name ? 1.2 : 0.9)));
    for (const row of rows.slice(0, 60)) {
      const texts = at === 0 ? [count(row.number)] : at === 1 ? [String(row.record ?? "synthetic")] : [row.values[at - 2], row.others[at - 2]];
      for (const text of texts) widest = Math.max(widest, width(String(text ?? "missing"), 1.02));
    }
    const mark = place.dataset.marks === "sides" && at > 1 ? 34 : 0;
    return Math.round(Math.min(Math.max(widest, 40) + mark + 26, 288));
  });
}

class Grid {
  constructor(place, windows, content) {
    this.place = place;
    this.windows = windows;
    this.total = content.total;
    const shares = new Map(content.changes.map((change) => [change.name, change]));
    this.columns = [
      { name: place.dataset.rowName }, { name: "Original record" },
      ...content.columns.map((name) => ({ name, change: shares.get(name) })),
    ];
    this.widths = measureWidths(place, this.columns, content.rows);
    this.lefts = this.widths.reduce((all, width) => [...all, all.at(-1) + width], [0]);
    this.rowHeight = ROW_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.active = { row: 0, column: 0 };
    this.build();
  }

  build() {
    const { place, columns, lefts } = this;
    this.header = make("div", { role: "row", "aria-rowindex": 1, class: "grid-head" });
    this.body = make("div", { role: "rowgroup", class: "grid-body" });
    this.view = make(
      "div",
      { role: "grid", tabindex: 0, class: "grid-view", "aria-label": place.dataset.label, "aria-readonly": "true", "aria-rowcount": this.total + 1, "aria-colcount": columns.length },
      make("div", { role: "rowgroup", class: "grid-top" }, this.header),
      this.body,
    );
    this.position = make("span", { "data-part": "position" });
    this.goal = make("input", { type: "number", min: 1, max: this.total, required: "", value: "1" });
    const jump = make("form", { class: "row tight", "aria-label": "Go to a row of the list" }, make("label", { class: "tight row" }, "Go to ", this.goal), make("button", { class: "small" }, "Go"));
    this.detail = make("p", { class: "grid-detail", "data-part": "cell" });
    const hint = make("p", { class: "hint" }, "Arrow keys, Page Up, Page Down, Home and End move through the table; with Ctrl, Home and End go to its first and last row.");
    const width = `${lefts.at(-1)}px`;
    this.height = Math.min(this.total * this.rowHeight, TALLEST);
    this.header.style.width = width;
    this.body.style.width = width;
    this.body.style.height = `${this.height}px`;
    place.append(make("div", { class: "grid" }, make("div", { class: "row pager" }, this.position, jump), this.view, this.detail, hint));
    place.classList.add("has-grid");
    this.view.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.view.addEventListener("keydown", (event) => this.press(event));
    this.view.addEventListener("click", (event) => this.choose(event.target.closest("[data-column]")));
    this.view.addEventListener("focus", () => this.draw(true));
    new ResizeObserver(() => this.schedule()).observe(this.view);
    jump.addEventListener("submit", (event) => {
      event.preventDefault();
      this.goTo(Number(this.goal.value) - 1);
      this.view.focus();
    });
  }

  // Rows that fit, and the place of the view in the whole table, in pixels as if it had its full height.
  get room() { return Math.max(this.view.clientHeight - this.header.offsetHeight, this.rowHeight); }
  get beyond() { return Math.max(this.total * this.rowHeight - this.room, 0); }
  get scale() { return this.height < this.total * this.rowHeight ? this.beyond / (this.height - this.room) : 1; }
  get top() { return Math.min(this.view.scrollTop * this.scale, this.beyond); }
  set top(pixels) { this.view.scrollTop = Math.min(Math.max(pixels, 0), this.beyond) / this.scale; }

  schedule() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.draw(); });
  }

  draw(again = false) {
    const { view, lefts, columns, active } = this;
    const top = this.top;
    const first = Math.max(Math.floor(top / this.rowHeight) - SPARE_ROWS, 0);
    const last = Math.min(Math.ceil((top + this.room) / this.rowHeight) + SPARE_ROWS, this.total);
    const [low, high] = [view.scrollLeft - SPARE_PIXELS, view.scrollLeft + view.clientWidth + SPARE_PIXELS];
    const shown = columns.map((_, at) => at).filter((at) => at === 0 || (lefts[at + 1] > low && lefts[at] < high));
    this.windows.want(first, last - 1);
    const [from, to] = [Math.ceil(top / this.rowHeight), Math.min(Math.floor((top + this.room) / this.rowHeight), this.total)];
    this.position.textContent = `Rows ${count(Math.min(from + 1, this.total))} to ${count(Math.max(to, from + 1))} of ${count(this.total)}`;
    const drawn = `${first} ${last} ${shown} ${active.row} ${active.column} ${this.scale > 1 ? top : ""}`;
    if (drawn === this.drawn && !again) return;
    this.drawn = drawn;
    this.header.replaceChildren(...shown.map((at) => this.arrange(drawHeader(columns[at], this.windows.query.against), at)));
    const shift = view.scrollTop - top;
    const rows = [];
    for (let at = first; at < last; at += 1) {
      const row = this.windows.row(at);
      const line = make("div", { role: "row", "aria-rowindex": at + 2, class: "grid-row" });
      line.style.top = `${at * this.rowHeight + shift}px`;
      line.style.height = `${this.rowHeight}px`;
      line.style.width = `${lefts.at(-1)}px`;
      for (const column of shown) {
        const cell = this.arrange(drawCell(row, column, this.place.dataset.marks), column);
        cell.id = `cell-${at}-${column}`;
        cell.dataset.row = at;
        if (at === active.row && column === active.column) cell.classList.add("active");
        line.append(cell);
      }
      rows.push(line);
    }
    this.body.replaceChildren(...rows);
    const current = `cell-${active.row}-${active.column}`;
    if (document.getElementById(current)) view.setAttribute("aria-activedescendant", current);
    else view.removeAttribute("aria-activedescendant");
    this.detail.textContent = describeCell(this.windows.row(active.row), columns, active.column, this.place.dataset);
  }

  arrange(cell, at) {
    cell.setAttribute("aria-colindex", at + 1);
    cell.dataset.column = at;
    cell.style.width = `${this.widths[at]}px`;
    if (at) cell.style.left = `${this.lefts[at]}px`;
    return cell;
  }

  goTo(row, column = this.active.column) {
    this.active = { row: Math.min(Math.max(row, 0), this.total - 1), column: Math.min(Math.max(column, 0), this.columns.length - 1) };
    const [start, end] = [this.active.row * this.rowHeight, (this.active.row + 1) * this.rowHeight];
    if (start < this.top) this.top = start;
    else if (end > this.top + this.room) this.top = end - this.room;
    const at = this.active.column;
    if (at && this.lefts[at] < this.view.scrollLeft + this.widths[0]) this.view.scrollLeft = this.lefts[at] - this.widths[0];
    else if (at && this.lefts[at + 1] > this.view.scrollLeft + this.view.clientWidth) this.view.scrollLeft = this.lefts[at + 1] - this.view.clientWidth;
    else if (!at) this.view.scrollLeft = 0;
    this.draw();
  }

  press(event) {
    if (event.altKey || event.metaKey) return;
    const page = Math.max(Math.floor(this.room / this.rowHeight) - 1, 1);
    const end = this.columns.length - 1;
    const inSight = Math.ceil(this.top / this.rowHeight);
    let { row, column } = this.active;
    if (row < inSight - 1 || row > inSight + page + 1) row = inSight; // the view was scrolled away from the active cell
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      PageDown: [row + page, column], PageUp: [row - page, column],
      Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? this.total - 1 : row, end],
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    this.goTo(...moves[event.key]);
  }

  choose(cell) {
    if (cell?.dataset.row !== undefined) this.goTo(Number(cell.dataset.row), Number(cell.dataset.column));
  }
}

async function start(place) {
  const { address, against, rows, columns, from } = place.dataset;
  let grid = null;
  const windows = new RowWindows(address, { rows, columns, ...(against ? { against } : {}) }, {
    loaded: () => grid?.draw(true),
    failed: (message) => { if (grid) grid.detail.textContent = message; },
  });
  const content = await windows.fetchRow(Number(from));
  if (!content?.total) return;
  grid = new Grid(place, windows, content);
  grid.goTo(Number(from), 0);
  grid.top = Number(from) * grid.rowHeight;
  grid.draw(true);
}

for (const place of document.querySelectorAll("[data-grid]")) start(place);
