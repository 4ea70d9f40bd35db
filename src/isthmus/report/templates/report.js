"use strict";
(() => {
  const root = document.documentElement;
  const problems = [];
  const note = (what) => { problems.push(String(what)); root.dataset.problems = problems.join("\n"); };
  addEventListener("error", (event) => note(event.message));
  addEventListener("unhandledrejection", (event) => note(event.reason));
  document.addEventListener("securitypolicyviolation", (event) => note(`${event.violatedDirective} ${event.blockedURI}`));

  const font = () => getComputedStyle(document.body).fontFamily;

  // A colour in a chart is a name: "@adapted" is --adapted of the style sheet, in the scheme that is on now.
  const painted = (value, style) => {
    if (typeof value === "string" && value.startsWith("@")) return style.getPropertyValue(`--${value.slice(1)}`).trim() || value;
    if (Array.isArray(value)) return value.map((one) => painted(one, style));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, painted(one, style)]));
    return value;
  };

  const draw = async (figures) => {
    const style = getComputedStyle(root);
    const touch = matchMedia("(pointer: coarse)").matches;
    let drawn = 0;
    for (const [name, figure] of Object.entries(figures)) {
      const place = document.getElementById(name);
      const { data, layout } = painted(figure, style);
      layout.font.family = font();
      layout.dragmode = touch ? false : "zoom";
      await Plotly.react(place, data, layout, { responsive: true, displayModeBar: false, doubleClick: "reset" });
      place.dataset.drawn = "yes";
      root.dataset.drawn = String(++drawn);
    }
  };

  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(document.getElementById("command"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };

  addEventListener("DOMContentLoaded", () => {
    const figures = JSON.parse(document.getElementById("figures").textContent);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    draw(figures).catch(note);
    scheme.addEventListener("change", () => draw(figures).catch(note));
    const button = document.getElementById("copy");
    button.hidden = false;
    button.addEventListener("click", () => copy(button, document.getElementById("command").textContent));
    const video = document.querySelector("video");
    if (video && matchMedia("(prefers-reduced-motion: reduce)").matches) { video.autoplay = false; video.pause(); }
  });
})();
