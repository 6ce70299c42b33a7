// Drag a value onto another one to put both into one group of level 1. Without scripts, tick values and name their group.
const body = document.getElementById("groups");
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
  });
  body.addEventListener("dragend", () => {
    clear();
    dragged = null;
  });
}
