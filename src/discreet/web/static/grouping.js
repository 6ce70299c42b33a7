// Drag a value onto another one to put both into one group of level 1. Without scripts, tick values and name their group.
// Whatever changes in the hierarchy, its levels and their effect on the risk are shown anew; nothing is saved by that.
const body = document.getElementById("groups");
const hierarchy = document.getElementById("hierarchy");
let timer = null;
let asked = 0;

async function showEffect() {
  asked += 1;
  const number = asked;
  const form = hierarchy.form ?? hierarchy.closest("form");
  const fields = new URLSearchParams(new FormData(form));
  fields.set("action", "preview");
  const area = document.getElementById("level-effect");
  area.setAttribute("aria-busy", "true");
  try {
    // not form.action: that is the buttons, which are named "action"
    const response = await fetch(form.getAttribute("action"), { method: "POST", body: fields, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (number !== asked) return; // a later change is under way
    const fresh = page.getElementById("level-effect");
    const wrong = page.querySelector(".notice.bad");
    if (response.ok && fresh) area.replaceChildren(...fresh.childNodes);
    else if (wrong) area.replaceChildren(wrong);
  } catch {
    // the button "Preview levels" says why the server does not answer
  } finally {
    if (number === asked) area.removeAttribute("aria-busy");
  }
}

function scheduleEffect() {
  clearTimeout(timer);
  timer = setTimeout(showEffect, 250);
}

hierarchy?.addEventListener("change", (event) => {
  if (!["tick", "group", "group-level"].includes(event.target.name)) scheduleEffect();
});

if (body && body.querySelector('input[type="checkbox"]')) {
  const status = document.getElementById("groups-status");
  const hint = document.querySelector(".draggable-hint");
  if (hint) hint.hidden = false;
  let dragged = null;
  const rowOf = (event) => event.target.closest("tr[data-value]");
  const label = (row) => row.querySelector('td input[name^="label."]');
  const clear = () => body.querySelectorAll(".over, .dragged").forEach((row) => row.classList.remove("over", "dragged"));

  for (const row of body.children) row.querySelector("th").draggable = true;
  body.addEventListener("dragstart", (event) => {
    dragged = rowOf(event);
    dragged.classList.add("dragged");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.value);
  });
  body.addEventListener("dragover", (event) => {
    const row = rowOf(event);
    if (!dragged || !row || row === dragged) return;
    event.preventDefault();
    clear();
    dragged.classList.add("dragged");
    row.classList.add("over");
  });
  body.addEventListener("drop", (event) => {
    const row = rowOf(event);
    if (!dragged || !row || row === dragged) return;
    event.preventDefault();
    const name = label(row).value || label(dragged).value || `${row.dataset.value} or ${dragged.dataset.value}`;
    label(row).value = name;
    label(dragged).value = name;
    document.querySelector('input[name="kind"][value="groups"]').checked = true;
    status.textContent = `${dragged.dataset.value} and ${row.dataset.value} are in the group ${name}; not saved yet`;
    scheduleEffect();
  });
  body.addEventListener("dragend", () => {
    clear();
    dragged = null;
  });
}
