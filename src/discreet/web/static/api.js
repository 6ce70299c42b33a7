// A link to a schema opens it. Logged-in users can send GET requests from the page.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target) target.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

const loggedIn = document.querySelector('meta[name="csrf"]');
for (const request of loggedIn ? document.querySelectorAll('.request[data-method="GET"]') : []) {
  if (request.dataset.path.endsWith("/events")) continue;
  const form = document.createElement("form");
  form.className = "stack";
  for (const row of request.querySelectorAll("tbody tr")) {
    const [name, where] = [row.querySelector("code").textContent, row.children[1].textContent];
    if (where !== "path" && where !== "query") continue;
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.name = name;
    input.dataset.where = where;
    input.required = where === "path";
    label.append(`${name} `, input);
    form.append(label);
  }
  const send = document.createElement("button");
  send.textContent = "Try it";
  const output = document.createElement("pre");
  output.hidden = true;
  output.tabIndex = 0;
  output.setAttribute("aria-live", "polite");
  form.append(send, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let path = request.dataset.href;
    const query = new URLSearchParams();
    for (const input of form.elements) {
      if (input.dataset.where === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
      else if (input.dataset.where === "query" && input.value) query.set(input.name, input.value);
    }
    const response = await fetch(query.size ? `${path}?${query}` : path);
    const text = await response.text();
    let formatted = text;
    try { formatted = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: show the text unchanged */ }
    output.hidden = false;
    output.textContent = `${response.status}\n${formatted.slice(0, 20000)}`;
  });
  request.append(form);
}
