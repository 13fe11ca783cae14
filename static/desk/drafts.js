// What was typed is not lost. Entries of any form wait in this tab when a sign-in ends; answers of a
// survey, which are saved on leaving a field, wait in this browser while they cannot be sent.
(() => {
  const words = document.currentScript.dataset;
  const keptIn = (storage, key) => ({
    read: () => JSON.parse(storage.getItem(key) || "{}"),
    write: (kept) => Object.keys(kept).length
      ? storage.setItem(key, JSON.stringify(kept)) : storage.removeItem(key),
  });
  const isChoice = (field) => field.type === "checkbox" || field.type === "radio";
  const valuesOf = (fields) => fields.flatMap((field) => {
    if (isChoice(field)) return field.checked ? [field.value] : [];
    if (field.multiple) return [...field.selectedOptions].map((option) => option.value);
    return [field.value];
  });
  const fill = (fields, values) => {
    for (const field of fields) {
      if (isChoice(field)) field.checked = values.includes(field.value);
      else if (field.multiple) for (const option of field.options) option.selected = values.includes(option.value);
      else field.value = values[0] ?? "";
    }
  };
  const inputsOf = (form, name) => [...form.elements].filter((field) => field.name === name);
  const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  keepTyped();
  keepAnswers();

  // A form whose sign-in ended: put back where the page is open again. Forms with secrets are never
  // kept, nor are surveys, which keep their own.
  function keepTyped() {
    const tab = keptIn(sessionStorage, "desk-typed");
    const typed = tab.read();
    if (document.querySelector("[data-desk-interrupted]")) {
      if (typed.path) tab.write({ ...typed, isInterrupted: true });
      return;
    }
    const isKept = (field) => field.name && !["password", "file", "hidden", "submit", "search"].includes(field.type);
    const forms = () => [...document.querySelectorAll("main form[method=post]:not([data-desk-survey])")]
      .filter((form) => !form.querySelector("input[type=password], [data-desk-secret]"));
    const namesOf = (form) => [...new Set([...form.elements].filter(isKept).map((field) => field.name))];

    if (typed.isInterrupted && typed.user === words.user && typed.path === location.pathname) {
      const form = forms()[typed.form];
      if (form) {
        for (const name of namesOf(form)) {
          if (name in typed.entries) fill(inputsOf(form, name).filter(isKept), typed.entries[name]);
        }
        const note = document.createElement("div");
        note.className = "alert alert-warning";
        note.setAttribute("role", "alert");
        note.textContent = words.words;
        form.before(note);
      }
      tab.write({ ...typed, isInterrupted: false });
    } else tab.write({});

    document.addEventListener("submit", (event) => {
      if (event.target.matches("[data-desk-leave]")) tab.write({});
    });
    document.addEventListener("input", (event) => {
      const form = event.target.form, number = forms().indexOf(form);
      if (number < 0 || !isKept(event.target)) return;
      const entries = Object.fromEntries(namesOf(form).map(
        (name) => [name, valuesOf(inputsOf(form, name).filter(isKept))]));
      tab.write({ path: location.pathname, user: words.user, form: number, entries });
    });
  }

  // Answers of a survey, each with the revision it was written against, so that nothing of somebody
  // else's is overwritten later.
  function keepAnswers() {
    const form = () => document.querySelector("form[data-desk-survey]");
    if (!form()) return;
    const answers = keptIn(localStorage, `desk-survey:${location.pathname}${location.search}`);
    const state = () => document.getElementById("survey-state");
    const isOpen = () => form()?.hasAttribute("hx-post");
    const cell = (name) => inputsOf(form(), `a:${name}`);
    const revisionOf = (name) => form().elements[`r:${name}`];
    const isWaiting = () => isOpen() && Object.keys(answers.read()).length;
    const send = () => { if (isWaiting()) form().dispatchEvent(new Event("change", { bubbles: true })); };
    const away = () => { if (state()) state().textContent = state().dataset.away; };
    let sent = {}, sentWhole = false, retry;

    document.addEventListener("input", (event) => {
      if (!event.target.name?.startsWith("a:") || !isOpen()) return;
      const name = event.target.name.slice(2);
      answers.write({ ...answers.read(), [name]: {
        values: valuesOf(cell(name)), revision: revisionOf(name)?.value ?? "0" } });
    });
    document.addEventListener("htmx:beforeRequest", (event) => {
      if (!event.target.matches("form[data-desk-survey]")) return;
      sent = Object.fromEntries(Object.keys(answers.read()).map((name) => [name, valuesOf(cell(name))]));
    });
    document.addEventListener("htmx:afterRequest", (event) => {
      if (!event.target.matches("form[data-desk-survey]")) return;
      if (!event.detail.successful) return away();
      // What the server has now is no longer kept here.
      answers.write(Object.fromEntries(Object.entries(answers.read()).filter(
        ([name, kept]) => !isEqual(kept.values, sent[name]))));
    });
    document.addEventListener("htmx:sendError", () => {
      away();
      clearTimeout(retry);
      retry = setTimeout(send, 10000);
    });
    window.addEventListener("online", send);
    document.addEventListener("submit", (event) => {
      if (event.target.matches("form[data-desk-survey]")) sentWhole = true;
    });
    // Leaving by a link or by closing the window sends what the field's own save had no time for.
    window.addEventListener("pagehide", () => {
      if (!sentWhole && isWaiting()) navigator.sendBeacon(form().action, new FormData(form()));
    });

    window.addEventListener("load", () => {
      if (!isOpen()) return;
      const kept = Object.entries(answers.read()).filter(
        ([name, { values }]) => !cell(name).length || !isEqual(valuesOf(cell(name)), values));
      answers.write(Object.fromEntries(kept));
      const waiting = kept.filter(([name]) => cell(name).length);
      for (const [name, { values, revision }] of waiting) {
        fill(cell(name), values);
        if (revisionOf(name)) revisionOf(name).value = revision;
      }
      if (!waiting.length) return;
      state().textContent = state().dataset.back;
      send();
    });
  }
})();
