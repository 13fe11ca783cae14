// Small behaviours of the portal. Every page works without them.
(() => {
  const root = document.documentElement;

  // A refused form is shown at the address that took it, which answers no reload: the page gets its own back.
  const own = document.querySelector("[data-desk-address]");
  if (own && location.pathname !== own.dataset.deskAddress) history.replaceState(history.state, "", own.dataset.deskAddress);

  for (const button of document.querySelectorAll("[data-desk-theme]")) {
    button.addEventListener("click", () => {
      const next = root.getAttribute("data-bs-theme") === "dark" ? "light" : "dark";
      root.setAttribute("data-bs-theme", next);
      localStorage.setItem("desk-theme", next);
      redrawCharts();
    });
  }

  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });

  // A form is sent once: until the answer comes its buttons rest. They wake up for who comes back, and
  // after a while, since the answer may have been a file.
  const REST = 8000;
  const wake = (form) => {
    delete form.dataset.deskSent;
    for (const button of form.querySelectorAll("[data-desk-resting]")) {
      button.disabled = false;
      delete button.dataset.deskResting;
    }
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    if (form.dataset.deskSent) { event.preventDefault(); return; }
    form.dataset.deskSent = "yes";
    setTimeout(() => { // once the browser has taken the button's own value
      for (const button of form.querySelectorAll("button:not([type=button]):not(:disabled)")) {
        button.disabled = true;
        button.dataset.deskResting = "";
      }
    });
    setTimeout(() => wake(form), REST);
  });
  window.addEventListener("pageshow", () => document.querySelectorAll("form[data-desk-sent]").forEach(wake));

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-desk-submit]")) event.target.form.requestSubmit();
  });

  // Lists that phones show downwards: every cell gets the head of its column.
  const labelCells = () => {
    for (const table of document.querySelectorAll(".desk-stack:not([data-labelled])")) {
      table.dataset.labelled = "yes";
      const heads = [...table.querySelectorAll("thead th")].map(
        (head) => head.querySelector(".visually-hidden") ? "" : head.textContent.trim());
      const isGrid = table.getAttribute("role") === "grid";
      for (const row of table.tBodies[0]?.rows ?? []) {
        row.setAttribute("role", "row");
        [...row.cells].forEach((cell, n) => {
          cell.setAttribute("role", isGrid ? "gridcell" : "cell");
          if (heads[n]) cell.dataset.label = heads[n];
          cell.classList.toggle("is-empty", /^[\s-]*$/.test(cell.textContent) && !cell.querySelector("svg, img, input, button"));
        });
      }
      if (!isGrid) table.setAttribute("role", "table");
    }
  };
  labelCells();
  document.body.addEventListener("htmx:afterSwap", labelCells);

  // Escape puts away the pages of a group of tabs until the pointer or the focus has left it.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const group of document.querySelectorAll(".desk-groups .nav-item:is(:hover, :focus-within)")) {
      group.classList.add("is-dismissed");
      for (const leaving of ["mouseleave", "focusout"]) {
        group.addEventListener(leaving, () => group.classList.remove("is-dismissed"), { once: true });
      }
    }
  });

  // The open tab is in sight, however many there are.
  document.querySelector(".page-header .nav-link.active")?.scrollIntoView({ inline: "center", block: "nearest" });

  // Typing leaves those of a list that hold all words; a section without any is hidden, a folded one opens.
  for (const input of document.querySelectorAll("[data-desk-filter]")) {
    input.addEventListener("input", () => {
      const asked = input.value.toLowerCase().split(/\s+/);
      const items = [...document.querySelectorAll(input.dataset.deskFilter)];
      for (const item of items) item.hidden = !asked.every((word) => item.textContent.toLowerCase().includes(word));
      for (const section of new Set(items.map((item) => item.closest("section")))) {
        section.hidden = !items.some((item) => !item.hidden && section.contains(item));
        for (const fold of section.querySelectorAll("details")) fold.open = input.value.trim() !== "";
      }
    });
  }

  // A form that came back with errors: a list of them on top, with the focus, and said in the title.
  const words = document.currentScript.dataset;
  const summarise = () => {
    const wrong = [...document.querySelectorAll("main [aria-invalid=true], main .is-invalid")]
      .filter((field, n, all) => field.id && all.indexOf(field) === n);
    for (const field of wrong) unfold(field);
    const form = wrong[0]?.form;
    if (!form || form.querySelector("[data-desk-errors]")) return;
    const summary = document.createElement("div");
    summary.className = "alert alert-danger";
    summary.tabIndex = -1;
    summary.dataset.deskErrors = "";
    summary.setAttribute("role", "alert");
    const head = document.createElement("strong");
    head.textContent = words.errors;
    const list = document.createElement("ul");
    list.className = "mb-0";
    for (const field of wrong) {
      const link = document.createElement("a");
      link.href = `#${field.id}`;
      link.textContent = document.querySelector(`label[for="${CSS.escape(field.id)}"]`)?.textContent.trim() || field.name;
      link.addEventListener("click", (event) => { event.preventDefault(); field.focus(); });
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    summary.append(head, list);
    form.prepend(summary);
    document.title = `${words.error} ${document.title}`;
    summary.focus();
  };
  const unfold = (part) => {
    for (let box = part.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  };
  // Any other refusal gets the focus, also where the address leads to another part of the page.
  const showRefusal = () => {
    const refusal = document.querySelector("main .alert-danger[role=alert]");
    if (!refusal || document.activeElement?.matches("[data-desk-errors]")) return;
    unfold(refusal);
    refusal.tabIndex = -1;
    refusal.focus();
  };
  summarise();
  showRefusal();
  if (location.hash) window.addEventListener("load", () => setTimeout(showRefusal));
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = named?.closest("details:not([open])");
  if (folded) {
    folded.open = true;
    named.scrollIntoView();
  }

  // Zooming into a long curve: the thinned points give way to those of the visible steps.
  const loadDetail = (view, url) => {
    let waiting;
    view.addSignalListener("zoom", (_name, value) => {
      const [low, high] = value.step || [];
      if (low === undefined) return;
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        const steps = `first=${Math.max(0, Math.floor(low))}&last=${Math.max(0, Math.ceil(high))}`;
        const answer = await fetch(`${url}?${steps}`);
        if (!answer.ok) return;
        const detail = await answer.json();
        for (const name of ["curves", "errors"]) {
          view.data(name, detail[name]);
        }
        await view.runAsync();
      }, 300);
    });
  };

  // On a dark page the same specification in colours that can be read there.
  const ON_DARK = {
    "#ffffff": "transparent", "#1b2330": "#e5ebf3", "#333a45": "#c3ccd8", "#e6e8ec": "#39424e",
    "#d5d9e0": "#4a5563", "#1f5fbf": "#6ea3f5", "#7c93b8": "#9db2d4", "#8a6d1f": "#c9a54a",
    "#c92a2a": "#ff8787", "#5f3dc4": "#b197fc", "#d9c27a": "#6b5a2a",
    "#2b8a3e": "#69db7c", "#862e9c": "#da77f2", "#c2255c": "#faa2c1",
  };
  const inTheme = (spec) => {
    if (root.getAttribute("data-bs-theme") !== "dark") return spec;
    const dark = JSON.parse(JSON.stringify(spec).replace(/#[0-9a-f]{6}/g, (c) => ON_DARK[c] ?? c));
    dark.config.text = { color: "#e5ebf3" };
    dark.config.legend = { ...dark.config.legend, labelColor: "#e5ebf3" };
    return dark;
  };

  const LEAST_WIDTH = 200;
  // `ast`: expressions are interpreted, not compiled, which the content security policy forbids.
  const OPTIONS = { actions: false, renderer: "svg", ast: true };
  // What stands beside a plot (ticks, names) is known once it is drawn; then it fills the page.
  const drawChart = async (place) => {
    const spec = inTheme(await (await fetch(place.dataset.chartUrl)).json());
    const name = place.getAttribute("aria-label");
    if (name) spec.description = name;
    let { view } = await window.vegaEmbed(place, spec, OPTIONS);
    const plots = (spec.vconcat ?? [spec]).filter((plot) => plot.width);
    const room = place.clientWidth - place.querySelector("svg").width.baseVal.value;
    if (plots.length && Math.abs(room) > 8) {
      for (const plot of plots) plot.width = Math.max(LEAST_WIDTH, plot.width + room);
      ({ view } = await window.vegaEmbed(place, spec, OPTIONS));
    }
    if (place.dataset.chartDetailUrl) loadDetail(view, place.dataset.chartDetailUrl);
    tabulate(place, spec);
  };
  // The numbers of a chart as a table, for whoever cannot see the drawing.
  const MOST_ROWS = 200;
  const tabulate = (place, spec) => {
    if (place.nextElementSibling?.matches("[data-desk-numbers]")) return;
    const rows = (Object.values(spec.datasets ?? {})[0] ?? spec.data?.values ?? []).slice(0, MOST_ROWS);
    if (!rows.length || typeof rows[0] !== "object") return;
    const box = document.createElement("details");
    box.dataset.deskNumbers = "";
    box.className = "d-print-none";
    const summary = document.createElement("summary");
    summary.textContent = words.numbers;
    const table = document.createElement("table");
    table.className = "table table-sm";
    const line = (cells, tag) => {
      const row = document.createElement("tr");
      for (const cell of cells) row.append(Object.assign(document.createElement(tag), { textContent: cell ?? "–" }));
      return row;
    };
    const names = Object.keys(rows[0]);
    table.createTHead().append(line(names, "th"));
    const body = table.createTBody();
    for (const row of rows) body.append(line(names.map((key) => row[key]), "td"));
    const scroll = document.createElement("div");
    scroll.className = "table-responsive";
    scroll.tabIndex = 0;
    scroll.append(table);
    box.append(summary, scroll);
    place.after(box);
  };
  const drawCharts = () => {
    for (const place of document.querySelectorAll("[data-chart-url]:not([data-drawn])")) {
      place.dataset.drawn = "yes";
      drawChart(place).catch(() => place.classList.add("is-broken"));
    }
  };
  const redrawCharts = () => {
    for (const place of document.querySelectorAll("[data-drawn]")) delete place.dataset.drawn;
    if (window.vegaEmbed) drawCharts();
  };
  if (window.vegaEmbed) drawCharts();
  window.addEventListener("load", drawCharts);

  // A log that grows: keep to its end unless the reader has scrolled up.
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const log of document.querySelectorAll("[data-desk-log]")) log.scrollTop = log.scrollHeight;
  });
  for (const log of document.querySelectorAll("[data-desk-log]")) log.scrollTop = log.scrollHeight;
})();
