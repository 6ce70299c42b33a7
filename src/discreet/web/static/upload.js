// Sends a file as it is, with a bar that says how far it is; without scripts the form itself sends it.
for (const form of document.querySelectorAll("form[data-upload]")) {
  form.addEventListener("submit", (event) => {
    const file = form.elements.file.files[0];
    if (!file) return;
    event.preventDefault();
    send(form, file);
  });
}

function send(form, file) {
  const place = form.querySelector(".sending");
  const [bar, words, stop] = [place.querySelector("progress"), place.querySelector("span"), place.querySelector("button")];
  const button = form.querySelector("button.primary");
  const request = new XMLHttpRequest();
  const end = (said) => {
    words.textContent = said;
    button.disabled = false;
    stop.hidden = true;
  };
  request.open("PUT", `${form.dataset.upload}?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("X-CSRF-Token", form.elements.csrf.value);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.addEventListener("progress", (at) => {
    bar.value = at.loaded / file.size;
    words.textContent = `${(at.loaded / 1e6).toFixed(1)} of ${(file.size / 1e6).toFixed(1)} MB`;
  });
  request.addEventListener("load", () => {
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch { /* told below */ }
    if (request.status >= 300) return end(answer.message || `The server refused the file (${request.status}).`);
    words.textContent = "Received; the import begins";
    imported(form, { upload: answer.upload, name: file.name });
  });
  request.addEventListener("error", () => end("The connection broke; nothing was kept. Try again."));
  request.addEventListener("abort", () => end("Cancelled; nothing was kept."));
  stop.onclick = () => request.abort();
  stop.hidden = false;
  place.hidden = false;
  button.disabled = true;
  request.send(file);
}

function imported(form, fields) {
  const made = document.createElement("form");
  made.method = "post";
  made.action = form.action;
  for (const [name, value] of Object.entries({ csrf: form.elements.csrf.value, ...fields })) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    made.append(field);
  }
  document.body.append(made);
  made.submit();
}
