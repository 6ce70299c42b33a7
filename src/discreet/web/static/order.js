// Moves a category on the page; without scripts, the buttons send the form and the server moves it.
const list = document.getElementById("order");
if (list) {
  const status = document.getElementById("order-status");
  const position = (row) => row.querySelector('input[type="number"]');
  const name = (row) => row.dataset.value;

  const renumber = (moved) => {
    [...list.children].forEach((row, index) => {
      if (position(row).value !== "") position(row).value = index + 1;
    });
    status.textContent = `${name(moved)} is at position ${[...list.children].indexOf(moved) + 1} of ${list.children.length}`;
  };

  list.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-by]");
    if (!button) return;
    event.preventDefault();
    const row = button.closest("[data-value]");
    if (button.dataset.by === "-1" && row.previousElementSibling) row.previousElementSibling.before(row);
    if (button.dataset.by === "1" && row.nextElementSibling) row.nextElementSibling.after(row);
    renumber(row);
    button.focus();
  });

  list.addEventListener("change", (event) => {
    const row = event.target.closest("[data-value]");
    const wanted = Number.parseInt(event.target.value, 10);
    if (!row || !(wanted >= 1)) return;
    const others = [...list.children].filter((other) => other !== row);
    if (wanted > others.length) list.append(row);
    else others[wanted - 1].before(row);
    renumber(row);
    event.target.focus();
  });
}
