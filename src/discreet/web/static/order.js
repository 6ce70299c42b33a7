// Moves a category at once, where the buttons would send the form and come back with it moved.
const list = document.getElementById("order");
if (list) {
  const said = document.getElementById("order-said");
  const place = (row) => row.querySelector('input[type="number"]');
  const name = (row) => row.dataset.value;

  const number = (moved) => {
    [...list.children].forEach((row, at) => {
      if (place(row).value !== "") place(row).value = at + 1;
    });
    said.textContent = `${name(moved)} is number ${[...list.children].indexOf(moved) + 1} of ${list.children.length}`;
  };

  list.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-by]");
    if (!button) return;
    event.preventDefault();
    const row = button.closest("[data-value]");
    if (button.dataset.by === "-1" && row.previousElementSibling) row.previousElementSibling.before(row);
    if (button.dataset.by === "1" && row.nextElementSibling) row.nextElementSibling.after(row);
    number(row);
    button.focus();
  });

  list.addEventListener("change", (event) => {
    const row = event.target.closest("[data-value]");
    const wanted = Number.parseInt(event.target.value, 10);
    if (!row || !(wanted >= 1)) return;
    const others = [...list.children].filter((one) => one !== row);
    if (wanted > others.length) list.append(row);
    else others[wanted - 1].before(row);
    number(row);
    event.target.focus();
  });
}
