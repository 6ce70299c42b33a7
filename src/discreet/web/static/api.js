// A link to a document opens it; for one who is logged in, a request that only reads can be tried on the page.
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
  const answer = document.createElement("pre");
  answer.hidden = true;
  answer.tabIndex = 0;
  answer.setAttribute("aria-live", "polite");
  form.append(send, answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let path = request.dataset.path;
    const query = new URLSearchParams();
    for (const input of form.elements) {
      if (input.dataset.where === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
      else if (input.dataset.where === "query" && input.value) query.set(input.name, input.value);
    }
    const got = await fetch(query.size ? `${path}?${query}` : path);
    const text = await got.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: shown as it is */ }
    answer.hidden = false;
    answer.textContent = `${got.status}\n${shown.slice(0, 20000)}`;
  });
  request.append(form);
}
