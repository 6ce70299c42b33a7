// What every page has. Pages work without it; this makes them follow what happens.
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) {
      event.preventDefault();
      return;
    }
    if (form.dataset.sent) event.preventDefault(); // a second click sends nothing again
    form.dataset.sent = "yes";
    setTimeout(() => delete form.dataset.sent, 3000);
  });
}
