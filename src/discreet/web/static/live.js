// Follows a project: changes by other users and the progress of its jobs. Without it, a reload shows the same.
const live = document.querySelector("[data-events]");
if (live) follow(live);

function follow(live) {
  const pageRevision = Number(live.dataset.revision);
  const userName = live.dataset.user;
  const jobElements = () => [...document.querySelectorAll("[data-job]")];
  let lastMessage = "";
  let latest = null;
  const source = new EventSource(live.dataset.events);
  source.addEventListener("change", (event) => {
    const state = JSON.parse(event.data);
    const active = new Map(state.jobs.map((job) => [job.id, job]));
    let jobEnded = false;
    for (const element of jobElements()) {
      const job = active.get(element.dataset.job);
      if (job) updateJob(element, job);
      else if (["queued", "running"].includes(element.dataset.state)) jobEnded = true;
    }
    if (jobEnded) return reloadOrNotify(live, source, "A job has ended");
    const edited = state.revision > pageRevision && `${state.by === userName ? "You" : state.by || "Another user"} changed this project just now: ${state.what}`;
    const release = latest && state.release !== latest.release && `Release ${state.release} was generated`;
    const data = latest && state.dataset !== latest.dataset && "The initial microdata have changed";
    const hasNewJob = [...active.keys()].some((id) => !jobElements().some((element) => element.dataset.job === id));
    const started = latest && hasNewJob && !latest.jobs.some((job) => active.has(job.id)) && "A job was started";
    latest = latest ? { ...state, release: latest.release, dataset: latest.dataset } : state;
    const message = edited || release || data || started || "";
    if (message && message !== lastMessage) showNotice(live, (lastMessage = message));
  });
  watchServer(live, source);
  source.addEventListener("end", () => source.close());
  window.addEventListener("pagehide", () => source.close());
}

// The server sends an event every five seconds. Without one for 20 seconds, what the page shows may no longer be true.
const SILENT_MS = 20000;
function watchServer(live, source) {
  let heardAt = performance.now();
  let gone = false;
  const hear = () => {
    heardAt = performance.now();
    if (gone) location.reload();
  };
  for (const name of ["open", "change", "alive"]) source.addEventListener(name, hear);
  const timer = setInterval(() => {
    if (gone || performance.now() - heardAt < SILENT_MS) return;
    gone = true;
    showNotice(live, "The server does not respond, or your login has ended, so what this page shows may be out of date");
    for (const element of document.querySelectorAll('[data-job][data-state="queued"], [data-job][data-state="running"]')) {
      element.dataset.state = "unknown";
      element.querySelector('[data-part="state"]').textContent = "unknown";
      element.querySelector('[data-part="what"]').textContent = "the server does not respond";
      element.querySelector('[data-part="bar"]')?.setAttribute("hidden", "");
    }
  }, 1000);
  source.addEventListener("end", () => clearInterval(timer));
  window.addEventListener("pagehide", () => clearInterval(timer));
}

function updateJob(element, job) {
  element.dataset.state = job.state;
  element.querySelector('[data-part="state"]').textContent = job.state;
  element.querySelector('[data-part="what"]').textContent = job.what;
  const bar = element.querySelector('[data-part="bar"]');
  if (bar && job.total > 0) bar.value = Math.min(job.done / job.total, 1);
}

// a reload must not overtake a navigation that the user has just started
let leavingAt = -Infinity;
window.addEventListener("beforeunload", () => { leavingAt = performance.now(); });

function reloadOrNotify(live, source, message) {
  source.close();
  if (formsUnchanged() && performance.now() - leavingAt > 5000) location.reload();
  else showNotice(live, message);
}

// a form with unsaved input is never discarded
function formsUnchanged() {
  return ![...document.querySelectorAll("main form")].some((form) =>
    [...form.elements].some((field) =>
      field.type === "file" ? field.files.length :
      ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked :
      field.tagName === "SELECT" ? field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected)) :
      field.tagName !== "BUTTON" && field.defaultValue !== undefined && field.value !== field.defaultValue));
}

function showNotice(live, message) {
  live.textContent = `${message}. `;
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = "Reload";
  live.append(link);
  live.hidden = false;
}
