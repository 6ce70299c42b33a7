// Uploads a file as the request body and shows its progress; without scripts, the form itself sends it.
for (const form of document.querySelectorAll("form[data-upload]")) {
  form.addEventListener("submit", (event) => {
    const file = form.elements.file.files[0];
    if (!file) return;
    event.preventDefault();
    send(form, file);
  });
}

function send(form, file) {
  const panel = form.querySelector(".sending");
  const [bar, status, stop] = [panel.querySelector("progress"), panel.querySelector("span"), panel.querySelector("button")];
  const button = form.querySelector("button.primary");
  const request = new XMLHttpRequest();
  const finish = (message) => {
    status.textContent = message;
    button.disabled = false;
    stop.hidden = true;
  };
  request.open("PUT", `${form.dataset.upload}?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("X-CSRF-Token", form.elements.csrf.value);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.addEventListener("progress", (event) => {
    bar.value = event.loaded / file.size;
    status.textContent = `${(event.loaded / 1e6).toFixed(1)} of ${(file.size / 1e6).toFixed(1)} MB`;
  });
  request.addEventListener("load", () => {
    let response = {};
    try { response = JSON.parse(request.responseText); } catch { /* handled below */ }
    if (request.status >= 300) return finish(response.message || explain(request.status));
    status.textContent = "Upload complete; reading it";
    submitImport(form, { upload: response.upload, name: file.name });
  });
  request.addEventListener("error", () => finish("The connection was lost; nothing was stored. Try again. If it happens with every large file, a proxy before this server may limit their size."));
  request.addEventListener("abort", () => finish("Cancelled; nothing was stored."));
  stop.onclick = () => request.abort();
  stop.hidden = false;
  panel.hidden = false;
  button.disabled = true;
  request.send(file);
}

// an answer that is not JSON does not come from discreet but from a proxy before it
function explain(status) {
  if (status === 413) return "A proxy before this server refuses files of this size (413); nothing was stored. Ask its administrator to raise the limit (client_max_body_size of nginx).";
  if ([502, 503, 504].includes(status)) return `A proxy before this server got no answer from it (${status}); nothing was stored. Try again in a moment.`;
  return `The server refused the file (${status}).`;
}

function submitImport(form, fields) {
  const importForm = document.createElement("form");
  importForm.method = "post";
  importForm.action = form.action;
  for (const [name, value] of Object.entries({ csrf: form.elements.csrf.value, ...fields })) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    importForm.append(field);
  }
  document.body.append(importForm);
  importForm.submit();
}
