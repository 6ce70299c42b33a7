// The cells of a comparison as elements: unchanged values, changed ones with both values, and headers with the share that differs.
const isNumber = (value) => typeof value === "number";
const count = (number) => number.toLocaleString("en-US");
const text = (value) => (value === null || value === undefined ? "missing" : String(value));

const make = (name, className, ...children) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
};

const shownValue = (value) => (value === null || value === undefined ? make("em", "soft", "missing") : text(value));

export function drawHeader(column, against) {
  const cell = make("div", "grid-cell", make("span", "grid-name", column.name));
  cell.setAttribute("role", "columnheader");
  cell.title = column.name;
  if (column.change) {
    const share = column.change.records ? column.change.changed / column.change.records : 0;
    const bar = make("span", "grid-share");
    bar.style.width = `${Math.max(share * 100, share ? 2 : 0)}%`;
    const word = against ? "differ" : "changed";
    cell.append(make("span", "soft", column.change.changed ? `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} % ${word}` : against ? "the same" : "unchanged"), bar);
  }
  return cell;
}

// column 0 is the row of the release, 1 the original record, the others hold its values
export function drawCell(row, column, marks) {
  const cell = make("div", "grid-cell");
  cell.setAttribute("role", column === 0 ? "rowheader" : "gridcell");
  if (!row) {
    cell.append(make("span", "soft", "…"));
    return cell;
  }
  if (column < 2) {
    cell.classList.add("number");
    cell.append(column === 0 ? count(row.number) : row.record === null ? "synthetic" : count(row.record));
    return cell;
  }
  const at = column - 2;
  const value = row.values[at];
  const differs = at in row.others;
  if (isNumber(value) && marks !== "sides") cell.classList.add("number");
  if (differs) cell.classList.add("changed");
  if (differs && marks === "sides") {
    for (const [side, shown] of [["a", row.others[at]], ["b", value]]) {
      cell.append(make("span", "grid-line", make("span", `side-mark ${side}`, side.toUpperCase()), " ", shownValue(shown)));
    }
  } else if (differs && row.record !== null) {
    cell.append(make("del", "grid-line", make("span", "unseen", "was "), shownValue(row.others[at])), make("span", "grid-line", shownValue(value)));
  } else {
    cell.append(make("span", "grid-line", shownValue(value)));
  }
  return cell;
}

// The active cell in words, because a long value is cut in its cell.
export function describeCell(row, columns, column, { marks, rowName }) {
  if (!row) return "Loading …";
  const place = `${rowName} ${count(row.number)}${row.record === null ? ", a synthetic record" : `, original record ${count(row.record)}`}`;
  if (column < 2) return place;
  const at = column - 2;
  const value = text(row.values[at]);
  const label = `${place}, ${columns[column].name}: `;
  if (!(at in row.others) || row.record === null) return `${label}${value}`;
  return label + (marks === "sides" ? `${text(row.others[at])} in A, ${value} in B` : `${text(row.others[at])} became ${value}`);
}
