// Puts a chart that answers the pointer in the place of each drawing. Without this script the drawings stay, and say the same.
(async () => {
  "use strict";
  const specs = JSON.parse(document.getElementById("specs").textContent);
  for (const [name, spec] of Object.entries(specs)) {
    const home = document.getElementById(name);
    const live = document.createElement("div");
    live.className = "live";
    live.setAttribute("role", "img");
    live.setAttribute("aria-labelledby", `${name}-title ${name}-desc`);
    home.append(live);
    await vegaEmbed(live, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
      ast: true, // expressions are interpreted, so the page needs no leave to make code
    });
    live.querySelector("svg").setAttribute("aria-hidden", "true"); // the text for those who do not see it is the drawing's
    home.classList.add("drawn");
  }
  document.documentElement.classList.add("live-page");
})();
