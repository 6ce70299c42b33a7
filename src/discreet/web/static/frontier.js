// Draws the plans of a search by risk and loss, and follows the search while it runs. The table beneath says the same.
const SVG = "http://www.w3.org/2000/svg";
const LEFT = 72;

function make(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function scale(values, from, to) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (low === high) { low -= Math.abs(low) * 0.1 || 0.5; high += Math.abs(high) * 0.1 || 0.5; }
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const first = Math.floor(low / step) * step;
  const last = Math.ceil(high / step) * step;
  const ticks = [];
  for (let at = 0; first + at * step <= last + step / 2; at += 1) ticks.push(first + at * step);
  return { ticks, at: (value) => from + ((value - first) / (last - first)) * (to - from) };
}

// 20K rather than 20,000 where room is short
const short = (number) => (Math.abs(number) >= 1e4 ? number.toLocaleString("en", { notation: "compact" }) : shown(number));
const shown = (number) => number.toLocaleString("en", { maximumSignificantDigits: 4 });

function draw(chart) {
  const points = JSON.parse(chart.dataset.points);
  const width = Math.max(280, Math.min(chart.clientWidth, 736));
  const height = Math.round(Math.max(260, width * 0.5));
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Risk and loss of the plans tried" }, document.createDocumentFragment());
  const x = scale(points.map((one) => one.l), LEFT, width - 16);
  const y = scale(points.map((one) => one.r), height - 48, 16);
  for (const tick of x.ticks) {
    make("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: 16, y2: height - 48 }, svg);
    make("text", { x: x.at(tick), y: height - 30, "text-anchor": "middle" }, svg, short(tick));
  }
  for (const tick of y.ticks) {
    make("line", { class: "grid", x1: LEFT, x2: width - 16, y1: y.at(tick), y2: y.at(tick) }, svg);
    make("text", { x: LEFT - 8, y: y.at(tick) + 4, "text-anchor": "end" }, svg, short(tick));
  }
  make("text", { x: (LEFT + width - 16) / 2, y: height - 8, "text-anchor": "middle" }, svg, `loss (${chart.dataset.loss})`);
  make("text", { x: 12, y: (height - 32) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(height - 32) / 2})` }, svg, chart.dataset.risk === "risk" ? "risk" : `risk (${chart.dataset.risk})`);
  const edge = points.filter((one) => one.w && !one.d).sort((a, b) => a.l - b.l || a.r - b.r);
  if (edge.length > 1) make("polyline", { class: "edge", points: edge.map((one) => `${x.at(one.l)},${y.at(one.r)}`).join(" ") }, svg);
  const order = (one) => (one.w ? 1 : 0) + (one.d ? 0 : 1) + (String(one.n) === chart.dataset.chosen ? 4 : 0);
  for (const one of [...points].sort((a, b) => order(a) - order(b))) {
    const chosen = String(one.n) === chart.dataset.chosen;
    const said = `plan ${one.n}: risk ${shown(one.r)}, loss ${shown(one.l)}, ${one.k ? "keeps every limit" : "a limit fails"}${one.w ? "" : ", on a sample"}`;
    const link = make("a", { href: `${chart.dataset.here}?point=${one.n}#chosen`, "aria-label": said, tabindex: one.w && !one.d ? 0 : -1 }, svg);
    const look = `${one.w ? "" : "sample "}${one.k ? "kept" : "missed"}${one.d && !chosen ? " dominated" : ""}`;
    const [cx, cy] = [x.at(one.l), y.at(one.r)];
    make("circle", { class: "target", cx, cy, r: 11 }, link);
    if (chosen) make("circle", { class: "ring", cx, cy, r: 10 }, link);
    if (one.k || !one.w) make("circle", { class: look, cx, cy, r: one.w ? 6 : 4 }, link);
    else make("path", { class: look, d: `M${cx - 5} ${cy - 5}L${cx + 5} ${cy + 5}M${cx + 5} ${cy - 5}L${cx - 5} ${cy + 5}` }, link);
    make("title", {}, link, said);
  }
  chart.querySelector("svg")?.remove();
  chart.append(svg);
}

function redraw() {
  const chart = document.getElementById("chart");
  if (chart) draw(chart);
}

let asked = false;
async function refresh() {
  if (asked) return;
  asked = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("search");
    const old = document.getElementById("search");
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    old.replaceWith(fresh);
    redraw();
    if (focused) document.getElementById(focused)?.focus();
  } finally {
    asked = false;
  }
}

redraw();
window.addEventListener("resize", redraw);
const address = document.getElementById("search")?.dataset.follow;
if (address) {
  const events = new EventSource(address);
  let last = 0;
  let later = null;
  const soon = () => {
    clearTimeout(later);
    later = setTimeout(() => { last = Date.now(); refresh(); }, Math.max(0, 1000 - (Date.now() - last)));
  };
  events.addEventListener("progress", soon);
  events.addEventListener("end", () => {
    events.close();
    clearTimeout(later);
    setTimeout(refresh, 300);
  });
  window.addEventListener("pagehide", () => events.close());
}
