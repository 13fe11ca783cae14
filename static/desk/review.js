// Receipts: one tick for all of them.
(() => {
  const all = document.querySelector("[data-desk-all]");
  if (!all) return;
  const ticks = [...all.form?.elements ?? all.closest("form").elements].filter((field) => field.name === "keys");
  const head = all.querySelector("input");
  all.hidden = ticks.length < 2;
  head.addEventListener("change", () => { for (const tick of ticks) tick.checked = head.checked; });
})();

// The decision: one button marks what is not marked yet, the whole follows from the models, and only
// what a mark asks for is shown. Without this file everything is shown and works the same.
(() => {
  const form = document.querySelector("[data-desk-decision]");
  if (!form) return;
  const rows = [...form.querySelectorAll("[data-desk-model]")];
  const issues = [...form.querySelectorAll("[data-desk-issue]")];
  const more = form.querySelector("[data-desk-more]");
  const passAll = form.querySelector("[data-desk-pass-all]");
  const whole = form.elements.decision;
  let shown = 1;

  const mark = (row) => row.querySelector("[type=radio]:checked")?.value ?? "";
  const fields = (issue) => [...issue.querySelectorAll("input:not([type=hidden]), textarea")];
  const isFilled = (issue) => fields(issue).some((field) => field.value.trim());
  const about = (issue) => issue.querySelector("select[name$=-model]");

  const follow = () => {
    const marks = rows.map(mark);
    if (!marks.length || marks.includes("")) return;
    whole.value = ["rejected", "conditional"].find((value) => marks.includes(value)) ?? "accepted";
  };
  const passTheRest = () => {
    for (const row of rows.filter((one) => !mark(one))) row.querySelector("[value=accepted]").checked = true;
  };
  // A model that passes with conditions gets the first free issue.
  const reserve = (code) => {
    if (issues.some((issue) => about(issue).value === code)) return;
    const free = issues.find((issue) => !isFilled(issue) && !about(issue).value);
    if (free) about(free).value = code;
  };
  const release = () => {
    for (const issue of issues) {
      const row = rows.find((one) => one.dataset.deskModel === about(issue).value);
      if (row && !isFilled(issue) && mark(row) !== "conditional") about(issue).value = "";
    }
  };
  const show = () => {
    for (const row of rows) {
      const reason = row.querySelector("[data-desk-reason]");
      reason.hidden = mark(row) !== "rejected" && !reason.value;
    }
    const marks = [whole.value, ...rows.map(mark)];
    const needed = issues.filter((issue) => isFilled(issue) || about(issue).value).length;
    form.querySelector("[data-desk-issues]").hidden = !marks.includes("conditional") && !issues.some(isFilled);
    form.querySelector("[data-desk-rejected]").hidden = !marks.includes("rejected");
    issues.forEach((issue, n) => { issue.hidden = n >= Math.max(shown, needed); });
    more.hidden = issues.every((issue) => !issue.hidden);
    passAll.hidden = rows.length < 2 || rows.every(mark);
    // A rejection is asked about once more; an acceptance binds nobody before it is signed.
    if (marks.includes("rejected")) form.dataset.confirm = form.dataset.deskRejecting;
    else delete form.dataset.confirm;
  };

  form.addEventListener("change", (event) => {
    const row = event.target.closest("[data-desk-model]");
    if (row && event.target.type === "radio") {
      release();
      if (mark(row) === "conditional") reserve(row.dataset.deskModel);
      follow();
    }
    if (event.target.name === "decision" && whole.value === "accepted") passTheRest();
    show();
  });
  passAll.addEventListener("click", () => { passTheRest(); follow(); show(); });
  more.addEventListener("click", () => { shown = issues.filter((issue) => !issue.hidden).length + 1; show(); });
  for (const issue of issues) {
    const button = issue.querySelector("[data-desk-empty]");
    button.hidden = false;
    button.addEventListener("click", () => {
      for (const field of fields(issue)) field.value = "";
      about(issue).value = "";
      shown = Math.max(1, shown - 1);
      show();
    });
  }
  if (!whole.value) follow();
  show();
})();
