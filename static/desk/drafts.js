// Nothing typed is lost when a sign-in ends: entries wait in this tab until the page is open again.
(() => {
  const KEY = "desk-typed";
  const words = document.currentScript.dataset;
  const read = () => JSON.parse(sessionStorage.getItem(KEY) || "null");
  const write = (typed) => sessionStorage.setItem(KEY, JSON.stringify(typed));

  if (document.querySelector("[data-desk-interrupted]")) {
    const typed = read();
    if (typed) write({ ...typed, isInterrupted: true });
    return;
  }

  const isKept = (field) => field.name && !["password", "file", "hidden", "submit", "search"].includes(field.type);
  // Forms with secrets are never kept.
  const formsOf = () => [...document.querySelectorAll("main form[method=post]")]
    .filter((form) => !form.querySelector("input[type=password], [data-desk-secret]"));
  const here = () => location.pathname;

  const fill = (form, entries) => {
    for (const field of form.elements) {
      if (!isKept(field) || !(field.name in entries)) continue;
      const values = entries[field.name];
      if (field.type === "checkbox" || field.type === "radio") field.checked = values.includes(field.value);
      else if (field.multiple) for (const option of field.options) option.selected = values.includes(option.value);
      else field.value = values[0];
    }
  };
  const entriesOf = (form) => {
    const entries = {};
    for (const field of form.elements) {
      if (!isKept(field)) continue;
      entries[field.name] ??= [];
      if (field.type === "checkbox" || field.type === "radio") {
        if (field.checked) entries[field.name].push(field.value);
      } else if (field.multiple) entries[field.name].push(...[...field.selectedOptions].map((option) => option.value));
      else entries[field.name].push(field.value);
    }
    return entries;
  };

  const putBack = (typed) => {
    const form = formsOf()[typed.form];
    if (!form) return;
    fill(form, typed.entries);
    const note = document.createElement("div");
    note.className = "alert alert-warning";
    note.setAttribute("role", "alert");
    note.textContent = words.words;
    form.before(note);
  };

  const typed = read();
  if (typed?.isInterrupted && typed.user === words.user && typed.path === here()) {
    putBack(typed);
    write({ ...typed, isInterrupted: false });
  } else if (typed) sessionStorage.removeItem(KEY);

  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-desk-leave]")) sessionStorage.removeItem(KEY);
  });
  document.addEventListener("input", (event) => {
    const number = formsOf().indexOf(event.target.form);
    if (number < 0 || !isKept(event.target)) return;
    write({ path: here(), user: words.user, form: number, entries: entriesOf(event.target.form) });
  });
})();
