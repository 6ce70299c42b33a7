// Measures the sample again while a slider moves; without scripts, the button sends the form.
const section = document.getElementById("guesses");
if (section) {
  const form = document.getElementById("guesses-form");
  const status = document.getElementById("guesses-status");
  const fields = document.getElementById("guesses-fields");
  const bars = document.getElementById("guesses-bars");
  const quantiles = document.getElementById("guesses-quantiles");
  const count = (number) => Number(number).toLocaleString("en-US");
  const shown = (value) =>
    value === null ? "–" : Number.isInteger(value) ? count(value) : Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
  const words = (name) => name.replaceAll("_", " ");
  let waiting = null;
  let running = null;

  const cell = (tag, text, numeric) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (tag === "th") made.scope = "row";
    if (numeric) made.className = "number";
    return made;
  };

  const barRow = (label, text, value, most, meaning) => {
    const row = document.createElement("tr");
    const meter = document.createElement("meter");
    meter.min = 0;
    meter.max = most;
    meter.value = value;
    meter.setAttribute("aria-label", meaning);
    const last = document.createElement("td");
    last.append(meter);
    row.append(cell("th", label), cell("td", text, true), last);
    return row;
  };

  const draw = (found) => {
    status.textContent = found.is_sample
      ? `A sample of ${count(found.records)} of ${count(found.of)} records`
      : `All ${count(found.of)} records`;
    fields.tBodies[0].replaceChildren(
      ...found.fields.map((field) => {
        const row = document.createElement("tr");
        const head = cell("th", words(field.field));
        head.title = field.meaning;
        row.append(head, cell("td", shown(field.value), true));
        return row;
      }),
    );
    quantiles.tBodies[0].replaceChildren(
      ...found.quantiles.map((one) =>
        barRow(one.label, shown(one.risk), one.share, 1, `Risk that a share of ${one.label} of the records does not exceed, of the largest`),
      ),
    );
    bars.tBodies[0].replaceChildren(
      ...found.histogram.map((bin) =>
        barRow(bin.label, count(bin.records), bin.records, found.records, `Share of the records with a risk of ${bin.label}`),
      ),
    );
    for (const table of [fields, quantiles, bars]) table.hidden = false;
  };

  const measure = async () => {
    running?.abort();
    running = new AbortController();
    const query = new URLSearchParams();
    for (const slider of form.querySelectorAll('input[type="range"]')) query.set(slider.name, slider.value);
    try {
      const answer = await fetch(`${section.dataset.address}?${query}`, {
        headers: { Accept: "application/json" },
        signal: running.signal,
      });
      const found = await answer.json();
      if (answer.ok) draw(found);
      else status.textContent = found.message ?? "The sample could not be measured.";
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = "The server cannot be reached.";
    }
  };

  form.addEventListener("input", (event) => {
    const output = event.target.parentElement.querySelector("output");
    // any value is allowed, so that a probability of the policy stays as it is until its slider is moved
    event.target.value = Math.round(event.target.value * 100) / 100;
    if (output) output.textContent = event.target.value;
    clearTimeout(waiting);
    waiting = setTimeout(measure, 120);
  });

  form.addEventListener("submit", (event) => {
    if (event.submitter?.id !== "guesses-show") return;
    event.preventDefault();
    measure();
  });
}
