// The pad of the signing page: pointer moves become lines of numbers; the server draws its own picture.
(() => {
  const form = document.querySelector("[data-desk-signature]");
  if (!form) return;
  const pad = form.querySelector("[data-desk-pad]");
  const field = form.elements.strokes;
  const lines = JSON.parse(field.value || "[]"); // after a refusal: those that will be sent again
  let current = null;

  const place = (event) => {
    const box = pad.getBoundingClientRect();
    const within = (value, most) => Math.round(Math.min(most, Math.max(0, value)) * 10) / 10;
    return [within((event.clientX - box.left) / box.width * 1000, 1000),
            within((event.clientY - box.top) / box.height * 300, 300)];
  };
  const draw = () => {
    pad.replaceChildren(...lines.map((line) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
      path.setAttribute("points", line.map((point) => point.join(",")).join(" "));
      return path;
    }));
    field.value = lines.length ? JSON.stringify(lines) : "";
  };
  pad.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    pad.setPointerCapture(event.pointerId);
    lines.push(current = [place(event)]);
  });
  pad.addEventListener("pointermove", (event) => {
    if (current) { current.push(place(event)); draw(); }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    pad.addEventListener(end, () => { current = null; draw(); });
  }
  form.querySelector("[data-desk-pad-clear]").addEventListener("click", () => { lines.length = 0; draw(); });

  const choose = () => {
    const mark = form.elements.mark.value;
    form.querySelector("[data-desk-pad-box]").hidden = mark !== "drawn";
    form.querySelector("[data-desk-scan-box]").hidden = mark !== "scan";
  };
  form.addEventListener("change", choose);
  choose();
  draw();
})();
