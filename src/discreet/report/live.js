// Replaces each static SVG by an interactive chart. Without this script the static charts remain, with the same content.
(async () => {
  "use strict";
  const specs = JSON.parse(document.getElementById("specs").textContent);
  for (const [name, spec] of Object.entries(specs)) {
    const container = document.getElementById(name);
    const live = document.createElement("div");
    live.className = "live";
    live.setAttribute("role", "img");
    live.setAttribute("aria-labelledby", `${name}-title ${name}-desc`);
    container.append(live);
    await vegaEmbed(live, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
      ast: true, // expressions are interpreted, so the page does not need unsafe-eval
    });
    live.querySelector("svg").setAttribute("aria-hidden", "true"); // screen readers use the text alternative of the static SVG
    container.classList.add("drawn");
  }
  document.documentElement.classList.add("live-page");
})();
