// Follows a project: what others change, and how far its jobs are. Without it a reload shows the same.
const live = document.querySelector("[data-events]");
if (live) follow(live);

function follow(live) {
  const shown = Number(live.dataset.revision);
  const own = live.dataset.user;
  const followed = () => [...document.querySelectorAll("[data-job]")];
  let told = "";
  let latest = null;
  const source = new EventSource(live.dataset.events);
  source.addEventListener("change", (event) => {
    const seen = JSON.parse(event.data);
    const active = new Map(seen.jobs.map((job) => [job.id, job]));
    let over = false;
    for (const place of followed()) {
      const job = active.get(place.dataset.job);
      if (job) show(place, job);
      else if (["queued", "running"].includes(place.dataset.state)) over = true;
    }
    if (over) return again(live, source, "A job is over");
    const others = seen.revision > shown && `${seen.by === own ? "You" : seen.by || "Somebody"} changed this project a moment ago: ${seen.what}`;
    const release = latest && seen.release !== latest.release && `Release ${seen.release} was generated`;
    const data = latest && seen.dataset !== latest.dataset && "The initial microdata were changed";
    const fresh = [...active.keys()].some((id) => !followed().some((place) => place.dataset.job === id));
    const begun = latest && fresh && !latest.jobs.some((job) => active.has(job.id)) && "A job was started";
    latest = latest ? { ...seen, release: latest.release, dataset: latest.dataset } : seen;
    const words = others || release || data || begun || "";
    if (words && words !== told) say(live, (told = words));
  });
  source.addEventListener("end", () => source.close());
  window.addEventListener("pagehide", () => source.close());
}

function show(place, job) {
  place.dataset.state = job.state;
  place.querySelector('[data-part="state"]').textContent = job.state;
  place.querySelector('[data-part="what"]').textContent = job.what;
  const bar = place.querySelector('[data-part="bar"]');
  if (bar && job.total > 0) bar.value = Math.min(job.done / job.total, 1);
}

// a reload would overtake the page that somebody has just asked for
let left = -Infinity;
window.addEventListener("beforeunload", () => { left = performance.now(); });

function again(live, source, words) {
  source.close();
  if (untouched() && performance.now() - left > 5000) location.reload();
  else say(live, words);
}

// a form that somebody is filling in is never thrown away
function untouched() {
  return ![...document.querySelectorAll("main form")].some((form) =>
    [...form.elements].some((field) =>
      field.type === "file" ? field.files.length :
      ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked :
      field.tagName === "SELECT" ? field.selectedIndex !== Math.max(0, [...field.options].findIndex((one) => one.defaultSelected)) :
      field.tagName !== "BUTTON" && field.defaultValue !== undefined && field.value !== field.defaultValue));
}

function say(live, words) {
  live.textContent = `${words}. `;
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = "Reload";
  live.append(link);
  live.hidden = false;
}
