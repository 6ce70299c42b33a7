// Lets the user drag steps of the plan; without scripts, the arrow buttons do the same.
const list = document.getElementById("steps");
const form = document.getElementById("move");
if (list && form && list.children.length > 1) {
  list.classList.add("draggable");
  let dragged = null;
  for (const step of list.children) {
    step.draggable = true;
    step.addEventListener("dragstart", (event) => {
      dragged = step;
      step.classList.add("dragged");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", step.dataset.step);
    });
    step.addEventListener("dragend", () => {
      dragged = null;
      for (const item of list.children) item.classList.remove("dragged", "over");
    });
    step.addEventListener("dragover", (event) => {
      if (!dragged) return;
      event.preventDefault();
      for (const item of list.children) item.classList.toggle("over", item === step && item !== dragged);
    });
    step.addEventListener("drop", (event) => {
      event.preventDefault();
      if (!dragged || dragged === step) return;
      form.elements.step.value = dragged.dataset.step;
      form.elements.to.value = step.dataset.step;
      form.submit();
    });
  }
}
