// The workspace: dragging the threshold counts at once, and links replace the views in place. Without it, links and buttons do the same.
const desk = document.getElementById("workspace");
const count = (number) => Number(number).toLocaleString("en-US");
let running = null;

// Load an address of the workspace and show its views here; the focus stays where it was.
async function swap(address, { remember = true, focus = "" } = {}) {
  running?.abort();
  running = new AbortController();
  const parts = ["overview", "views"].map((id) => document.getElementById(id));
  const kept = focus || (parts.some((part) => part.contains(document.activeElement)) ? document.activeElement.id : "");
  for (const part of parts) {
    part.classList.add("busy");
    part.setAttribute("aria-busy", "true");
  }
  const url = new URL(address, location.href);
  const asked = new URL(url);
  asked.searchParams.set("now", "yes");
  try {
    const response = await fetch(asked, { headers: { Accept: "text/html" }, signal: running.signal });
    const answer = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = parts.map((part) => answer.getElementById(part.id));
    if (!fresh.every(Boolean)) {
      location.assign(url);
      return;
    }
    for (const part of fresh) document.getElementById(part.id).replaceWith(part);
    if (remember) history.pushState({}, "", url);
    prepare();
    const target = kept && document.getElementById(kept);
    if (target) target.focus({ preventScroll: !focus });
    if (focus) target?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (error.name === "AbortError") return;
    for (const part of parts) {
      part.classList.remove("busy");
      part.removeAttribute("aria-busy");
    }
  }
}

// One bar of a chart is a tab stop at a time; the arrow keys go to the others.
function rove(chart) {
  const bars = [...chart.querySelectorAll("a")];
  const choose = (bar) => { for (const one of bars) one.setAttribute("tabindex", one === bar ? "0" : "-1"); };
  choose(bars.find((bar) => bar.getAttribute("aria-current")) ?? bars[0]);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step && bars[bars.indexOf(event.target.closest("a")) + step];
    if (!next) return;
    event.preventDefault();
    choose(next);
    next.focus();
  });
}

function show(position) {
  const panel = document.getElementById("risk-panel");
  const slider = document.getElementById("at");
  const mark = document.getElementById("mark");
  panel.querySelector('[data-part="words"]').textContent = position.words;
  slider.setAttribute("aria-valuetext", `${position.words}: ${count(position.after)} records after masking`);
  for (const end of ["x1", "x2"]) mark.setAttribute(end, position.place * 1000);
  for (const side of ["before", "after"]) {
    const place = panel.querySelector(`[data-side="${side}"]`);
    place.querySelector('[data-part="count"]').textContent = count(position[side]);
    const interval = place.querySelector('[data-part="interval"]');
    if (interval) interval.textContent = `${count(position[`${side}_low`])} to ${count(position[`${side}_high`])}`;
  }
}

function addressWith(changes) {
  const url = new URL(location.href);
  url.hash = "";
  for (const name of ["now", "page"]) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url;
}

function prepare() {
  for (const chart of document.querySelectorAll("[data-rove]")) rove(chart);
  const panel = document.getElementById("risk-panel");
  if (!panel) return;
  const positions = JSON.parse(panel.dataset.positions);
  const form = document.getElementById("threshold");
  const slider = document.getElementById("at");
  form.querySelector("button").hidden = true;
  slider.addEventListener("input", () => show(positions[slider.value]));
  // a bar of the risk distribution is a filter of its own, so a new threshold takes its place
  slider.addEventListener("change", () => {
    const onRisk = new URL(location.href).searchParams.get("on") === "risk";
    swap(addressWith({ at: slider.value, ...(onRisk ? { on: null, bar: null, of: null } : {}) }));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}

if (desk) {
  desk.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-swap]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const address = link.getAttribute("href");
    swap(address, { focus: link.id.startsWith("record-") ? "card" : "" });
  });
  const known = document.getElementById("known");
  let waiting = null;
  known?.addEventListener("input", (event) => {
    event.target.value = Math.round(event.target.value * 100) / 100;
    event.target.parentElement.querySelector("output").textContent = event.target.value;
    clearTimeout(waiting);
    const changes = Object.fromEntries([...known.querySelectorAll('input[type="range"]')].map((slider) => [slider.name, slider.value]));
    waiting = setTimeout(() => swap(addressWith({ ...changes, at: null, on: null, bar: null, record: null })), 150);
  });
  known?.addEventListener("submit", (event) => {
    if (event.submitter?.value === "show") event.preventDefault();
  });
  // a draft is saved with the guesses that are shown, which are in the address
  for (const form of document.querySelectorAll("form[data-draft]")) {
    form.addEventListener("submit", () => {
      for (const field of form.querySelectorAll('input[name^="known."]')) field.remove();
      for (const [name, value] of new URL(location.href).searchParams) {
        if (!name.startsWith("known.")) continue;
        const field = document.createElement("input");
        Object.assign(field, { type: "hidden", name, value });
        form.append(field);
      }
    });
  }
  addEventListener("popstate", () => swap(location.href, { remember: false }));
  prepare();
  if (desk.dataset.ready === "no") swap(location.href, { remember: false });
}
