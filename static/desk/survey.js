// Answers are saved on leaving a field. What could not be sent waits in this browser, with the
// revision it was written against, so that nothing of somebody else's is overwritten later.
(() => {
  const KEY = `desk-survey:${location.pathname}${location.search}`;
  const read = () => JSON.parse(localStorage.getItem(KEY) || "{}");
  const write = (kept) => Object.keys(kept).length
    ? localStorage.setItem(KEY, JSON.stringify(kept)) : localStorage.removeItem(KEY);
  const form = () => document.querySelector("form[data-desk-survey]");
  const state = () => document.getElementById("survey-state");
  const isOpen = () => form()?.hasAttribute("hx-post");
  const inputsOf = (name) => [...form().elements].filter((field) => field.name === `a:${name}`);
  const valuesOf = (name) => inputsOf(name).flatMap((field) => {
    if (field.type === "checkbox") return field.checked ? [field.value] : [];
    return [field.value];
  });
  const revisionOf = (name) => form().elements[`r:${name}`];

  document.addEventListener("input", (event) => {
    if (!event.target.name?.startsWith("a:") || !isOpen()) return;
    const name = event.target.name.slice(2), kept = read();
    kept[name] = { values: valuesOf(name), revision: revisionOf(name)?.value ?? "0" };
    write(kept);
  });

  // What the server has now is no longer kept here.
  const forgetSaved = () => {
    const kept = read();
    for (const name of Object.keys(kept)) {
      if (JSON.stringify(kept[name].values) === JSON.stringify(sent[name])) delete kept[name];
    }
    write(kept);
  };
  let sent = {};
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!event.target.matches("form[data-desk-survey]")) return;
    sent = Object.fromEntries(Object.keys(read()).map((name) => [name, valuesOf(name)]));
  });
  const away = () => { const place = state(); if (place) place.textContent = place.dataset.away; };
  const send = () => { if (isOpen() && Object.keys(read()).length) form().dispatchEvent(new Event("change", { bubbles: true })); };
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.target.matches("form[data-desk-survey]")) return;
    if (event.detail.successful) forgetSaved(); else away();
  });
  let retry;
  document.addEventListener("htmx:sendError", () => { away(); clearTimeout(retry); retry = setTimeout(send, 10000); });
  window.addEventListener("online", send);
  document.addEventListener("submit", (event) => { if (event.target.matches("form[data-desk-survey]")) sentWhole = true; });

  // Leaving by a link or by closing the window sends what the field's own save had no time for.
  let sentWhole = false;
  window.addEventListener("pagehide", () => {
    if (sentWhole || !isOpen() || !Object.keys(read()).length) return;
    navigator.sendBeacon(form().action, new FormData(form()));
  });

  const putBack = () => {
    if (!isOpen()) return;
    const kept = read();
    let isDifferent = false;
    for (const [name, { values, revision }] of Object.entries(kept)) {
      if (!inputsOf(name).length) continue;
      if (JSON.stringify(valuesOf(name)) === JSON.stringify(values)) { delete kept[name]; continue; }
      for (const field of inputsOf(name)) {
        if (field.type === "checkbox") field.checked = values.includes(field.value);
        else field.value = values[0] ?? "";
      }
      const mark = revisionOf(name);
      if (mark) mark.value = revision;
      isDifferent = true;
    }
    write(kept);
    if (!isDifferent) return;
    state().textContent = state().dataset.back;
    send();
  };
  window.addEventListener("load", putBack);
})();
