// The words of a command line: one input per word. A pasted command line is split as a shell would.
(() => {
  // Words of a text, or null where a quote stays open. Single quotes keep all, double quotes all
  // but \ before $ ` " \ and line ends; a \ before a line end joins the lines.
  const split = (text) => {
    const words = [];
    let word = null;
    let quote = "";
    for (let at = 0; at < text.length; at += 1) {
      const sign = text[at];
      const next = text[at + 1];
      if (quote === "'") {
        if (sign === "'") quote = ""; else word += sign;
      } else if (sign === "\\" && next !== undefined && (!quote || '$`"\\\n'.includes(next))) {
        at += 1;
        if (next !== "\n") word = (word ?? "") + next;
      } else if (quote) {
        if (sign === '"') quote = ""; else word += sign;
      } else if (sign === "'" || sign === '"') {
        quote = sign;
        word ??= "";
      } else if (/\s/.test(sign)) {
        if (word !== null) words.push(word);
        word = null;
      } else {
        word = (word ?? "") + sign;
      }
    }
    if (quote) return null;
    if (word !== null) words.push(word);
    return words;
  };
  const SHELL = /^(?:[|<>&;]+|\d?>{1,2}&?\d?)$|\$\{?\w|`/;

  for (const place of document.querySelectorAll("[data-desk-words]")) {
    const first = place.querySelector("input");
    const add = place.querySelector("[data-words-add]");
    const notice = place.querySelector("[data-words-notice]");
    const inputs = () => [...place.querySelectorAll("input")];
    const label = first.getAttribute("aria-label").replace(/\d+/, "#");
    const number = () => inputs().forEach((input, n) => {
      input.id = `${place.id}_${n}`;
      input.setAttribute("aria-label", label.replace("#", n + 1));
    });
    const warn = () => {
      notice.hidden = !inputs().some((input) => SHELL.test(input.value));
      notice.textContent = place.dataset.textShell;
    };
    const row = (input) => {
      const line = document.createElement("div");
      const remove = document.createElement("button");
      line.className = "input-group";
      remove.type = "button";
      remove.className = "btn btn-icon";
      remove.textContent = "×";
      remove.setAttribute("aria-label", place.dataset.textRemove);
      remove.addEventListener("click", () => {
        if (inputs().length > 1) line.remove(); else input.value = "";
        number();
        warn();
      });
      line.append(input, remove);
      return line;
    };
    const insert = (word, after) => {
      const input = first.cloneNode();
      input.value = word;
      const line = row(input);
      if (after) after.parentNode.after(line); else add.before(line);
      return input;
    };
    const words = inputs();
    words.filter((input, n) => n && !input.value).forEach((input) => input.remove());
    for (const input of inputs()) {
      const mark = document.createElement("i");
      input.replaceWith(mark);
      mark.replaceWith(row(input));
    }
    add.hidden = false;
    number();
    add.addEventListener("click", () => {
      insert("").focus();
      number();
    });
    place.addEventListener("input", warn);
    place.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) {
        event.preventDefault();
        insert("", event.target).focus();
        number();
      }
    });
    place.addEventListener("paste", (event) => {
      const target = event.target;
      if (!target.matches("input") || target.value) return;
      const found = split(event.clipboardData.getData("text"));
      if (!found || found.length < 2) return;
      event.preventDefault();
      let last = target;
      target.value = found[0] || '""';
      for (const word of found.slice(1)) last = insert(word || '""', last);
      last.focus();
      number();
      warn();
    });
    warn();
  }

  // What the drawer offers is entered into the field for which it was opened.
  document.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-desk-choose]");
    const field = chosen && document.getElementById(
      chosen.closest("[data-desk-choose-for]")?.dataset.deskChooseFor);
    if (!field) return;
    field.value = chosen.dataset.deskChoose;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector("#drawer [data-bs-dismiss]")?.click();
    field.focus();
  });
})();
