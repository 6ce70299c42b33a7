// Loaded by every page: asks for confirmation and prevents double submission. Pages also work without it.
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) {
      event.preventDefault();
      return;
    }
    if (form.dataset.sent) event.preventDefault(); // ignore a second click
    form.dataset.sent = "yes";
    setTimeout(() => delete form.dataset.sent, 3000);
  });
}
