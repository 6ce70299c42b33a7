// Draws the plans of a search by risk and loss, and updates the chart while the search runs. The table below has the same values.
const SVG = "http://www.w3.org/2000/svg";
const LEFT = 72;

function addElement(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function scale(values, from, to) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (low === high) { low -= Math.abs(low) * 0.1 || 0.5; high += Math.abs(high) * 0.1 || 0.5; }
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const first = Math.floor(low / step) * step;
  const last = Math.ceil(high / step) * step;
  const ticks = [];
  for (let index = 0; first + index * step <= last + step / 2; index += 1) ticks.push(first + index * step);
  return { ticks, position: (value) => from + ((value - first) / (last - first)) * (to - from) };
}

// axis labels: 20K rather than 20,000
const formatTick = (number) => (Math.abs(number) >= 1e4 ? number.toLocaleString("en", { notation: "compact" }) : formatNumber(number));
const formatNumber = (number) => number.toLocaleString("en", { maximumSignificantDigits: 4 });

function draw(chart) {
  const points = JSON.parse(chart.dataset.points);
  const width = Math.max(280, Math.min(chart.clientWidth, 736));
  const height = Math.round(Math.max(260, width * 0.5));
  const svg = addElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Risk and loss of the plans tried" }, document.createDocumentFragment());
  const x = scale(points.map((point) => point.loss), LEFT, width - 16);
  const y = scale(points.map((point) => point.risk), height - 48, 16);
  for (const tick of x.ticks) {
    addElement("line", { class: "grid", x1: x.position(tick), x2: x.position(tick), y1: 16, y2: height - 48 }, svg);
    addElement("text", { x: x.position(tick), y: height - 30, "text-anchor": "middle" }, svg, formatTick(tick));
  }
  for (const tick of y.ticks) {
    addElement("line", { class: "grid", x1: LEFT, x2: width - 16, y1: y.position(tick), y2: y.position(tick) }, svg);
    addElement("text", { x: LEFT - 8, y: y.position(tick) + 4, "text-anchor": "end" }, svg, formatTick(tick));
  }
  addElement("text", { x: (LEFT + width - 16) / 2, y: height - 8, "text-anchor": "middle" }, svg, width < 480 ? "loss" : `loss (${chart.dataset.loss})`);
  addElement("text", { x: 12, y: (height - 32) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(height - 32) / 2})` }, svg, chart.dataset.risk === "risk" || width < 480 ? "risk" : `risk (${chart.dataset.risk})`);
  const frontier = points.filter((point) => point.whole && !point.dominated).sort((a, b) => a.loss - b.loss || a.risk - b.risk);
  if (frontier.length > 1) addElement("polyline", { class: "edge", points: frontier.map((point) => `${x.position(point.loss)},${y.position(point.risk)}`).join(" ") }, svg);
  // one point is a tab stop at a time, the arrow keys go to the others in the order of their loss
  const byLoss = [...points].sort((a, b) => a.loss - b.loss || a.risk - b.risk);
  const stop = byLoss.find((point) => String(point.number) === chart.dataset.chosen) ?? frontier[0] ?? byLoss[0];
  const drawingOrder = (point) => (point.whole ? 1 : 0) + (point.dominated ? 0 : 1) + (String(point.number) === chart.dataset.chosen ? 4 : 0);
  for (const point of [...points].sort((a, b) => drawingOrder(a) - drawingOrder(b))) {
    const chosen = String(point.number) === chart.dataset.chosen;
    const label = `plan ${point.number}: risk ${formatNumber(point.risk)}, loss ${formatNumber(point.loss)}, ${point.verdict}${point.whole ? "" : ", on a sample"}`;
    const link = addElement("a", { href: `${chart.dataset.here}?point=${point.number}#chosen`, id: `point-${point.number}`, "aria-label": label, tabindex: point === stop ? 0 : -1 }, svg);
    const style = `${point.whole ? "" : "sample "}${point.met ? "kept" : "missed"}${point.dominated && !chosen ? " dominated" : ""}`;
    const [cx, cy] = [x.position(point.loss), y.position(point.risk)];
    addElement("circle", { class: "target", cx, cy, r: 11 }, link);
    if (chosen) addElement("circle", { class: "ring", cx, cy, r: 10 }, link);
    if (point.met || !point.whole) addElement("circle", { class: style, cx, cy, r: point.whole ? 6 : 4 }, link);
    else addElement("path", { class: style, d: `M${cx - 5} ${cy - 5}L${cx + 5} ${cy + 5}M${cx + 5} ${cy - 5}L${cx - 5} ${cy + 5}` }, link);
    addElement("title", {}, link, label);
  }
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const link = event.target.closest("a");
    const next = step && byLoss[byLoss.findIndex((point) => link.id === `point-${point.number}`) + step];
    if (!next) return;
    event.preventDefault();
    link.setAttribute("tabindex", -1);
    const target = svg.querySelector(`#point-${next.number}`);
    target.setAttribute("tabindex", 0);
    target.focus();
  });
  chart.querySelector("svg")?.remove();
  chart.append(svg);
}

function redraw() {
  const chart = document.getElementById("chart");
  if (chart) draw(chart);
}

let refreshing = false;
async function refresh() {
  if (refreshing) return;
  refreshing = true;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("search");
    const old = document.getElementById("search");
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    old.replaceWith(fresh);
    redraw();
    if (focused) document.getElementById(focused)?.focus();
  } finally {
    refreshing = false;
  }
}

redraw();
window.addEventListener("resize", redraw);
const address = document.getElementById("search")?.dataset.follow;
if (address) {
  const events = new EventSource(address);
  let last = 0;
  let timer = null;
  const scheduleRefresh = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { last = Date.now(); refresh(); }, Math.max(0, 1000 - (Date.now() - last)));
  };
  events.addEventListener("progress", scheduleRefresh);
  events.addEventListener("end", () => {
    events.close();
    clearTimeout(timer);
    setTimeout(refresh, 300);
  });
  window.addEventListener("pagehide", () => events.close());
}
