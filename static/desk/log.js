// The log of a job in a terminal: fetched by byte offset, so that nothing is missing or doubled.
(() => {
  const card = document.querySelector("[data-log-url]");
  if (!card || !window.Terminal) return;
  const place = card.querySelector("[data-log-terminal]");
  const search = new window.SearchAddon.SearchAddon();
  const fit = new window.FitAddon.FitAddon();
  const terminal = new window.Terminal({
    convertEol: true, disableStdin: true, cursorInactiveStyle: "none", scrollback: 20000,
    fontSize: 13, screenReaderMode: true, allowProposedApi: true,
    theme: { background: "#10161f", foreground: "#d7e0ea" },
  });
  card.querySelector("[data-log-plain]").hidden = true;
  card.querySelector("[data-log-tools]").hidden = false;
  place.hidden = false;
  terminal.loadAddon(search);
  terminal.loadAddon(fit);
  terminal.open(place);
  fit.fit();
  window.addEventListener("resize", () => fit.fit());

  let offset = Number(card.dataset.logOffset);
  const fetchMore = async () => {
    let pause = 1000;
    try {
      const answer = await fetch(`${card.dataset.logUrl}?offset=${offset}`);
      if (!answer.ok) throw new Error(answer.status);
      const next = Number(answer.headers.get("X-Next-Offset"));
      terminal.write(await answer.text());
      const isFinal = answer.headers.get("X-Log-Final") === "yes";
      if (next === offset && isFinal) return;
      if (next > offset) pause = 200;
      offset = next;
    } catch {
      pause = 5000;
    }
    setTimeout(fetchMore, pause);
  };
  fetchMore();

  const field = card.querySelector("[data-log-search]");
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value) search.findPrevious(field.value, { incremental: false });
  });
  card.querySelector("[data-log-error]").addEventListener("click", () => {
    search.findPrevious("error|exception|traceback|failed|\\bnan\\b", { regex: true });
  });
})();
