// The log of a job in a terminal: fetched by byte offset, so that nothing is missing or doubled.
// The terminal holds its last lines only; the server searches the whole log and names the offset.
(() => {
  const card = document.querySelector("[data-log-url]");
  if (!card || !window.Terminal) return;
  const FIRST = 2 ** 20, BEHIND = 8 * 2 ** 20, BEFORE = 64 * 1024;
  const part = (name) => card.querySelector(`[data-log-${name}]`);
  const place = part("terminal"), notice = part("notice"), end = part("end");
  const fit = new window.FitAddon.FitAddon();
  const terminal = new window.Terminal({
    convertEol: true, disableStdin: true, cursorInactiveStyle: "none", scrollback: 20000,
    fontSize: 13, screenReaderMode: true, allowProposedApi: true,
    theme: { background: "#10161f", foreground: "#d7e0ea" },
  });
  part("plain").hidden = true;
  part("tools").hidden = false;
  place.hidden = false;
  terminal.loadAddon(fit);
  terminal.open(place);
  // The terminal is read, not typed into: Tab leaves it as it leaves any other part of the page.
  terminal.attachCustomKeyEventHandler((event) => event.key !== "Tab");
  // Not once after a class has changed: a transition may bring the new height a frame later.
  new ResizeObserver(() => fit.fit()).observe(place);

  const unfold = () => {  // without output there is nothing to show in a terminal
    if (length) place.classList.remove("desk-terminal-empty");
  };
  const write = (text) => new Promise((done) => terminal.write(text, done));
  const say = (text) => { notice.textContent = text; notice.hidden = !text; };
  const fetchFrom = async (offset, headers = {}) => {
    const answer = await fetch(`${card.dataset.logUrl}?offset=${offset}`, { headers });
    if (!answer.ok) throw new Error(answer.status);
    const number = (name) => Number(answer.headers.get(name));
    return { text: await answer.text(), next: number("X-Next-Offset"),
      length: number("X-Log-Length"), isFinal: answer.headers.get("X-Log-Final") === "yes" };
  };
  const wholeLines = (text) => text.slice(text.search(/[\r\n]/) + 1);

  // Following the end. One round at a time; a hidden page asks for nothing.
  let offset = Number(card.dataset.logOffset), length = offset, round = 0, timer = 0;
  const follow = async () => {
    const mine = ++round;
    let pause = 1000;
    try {
      const got = await fetchFrom(offset, window.DESK_POLLING);
      if (mine !== round) return;
      length = got.length;
      const moved = got.next > offset;
      offset = got.next;
      unfold();
      await write(got.text);
      say(length ? "" : card.dataset.textEmpty);
      if (mine !== round || (got.isFinal && offset >= length)) return;
      if (length - offset > BEHIND) await skip(mine);
      if (moved) pause = 200;
    } catch {
      pause = 5000;
      say(card.dataset.textAway);
    }
    if (mine === round && !document.hidden) timer = setTimeout(follow, pause);
  };
  const skip = async (mine) => {
    const from = length - FIRST, got = await fetchFrom(from, window.DESK_POLLING);
    if (mine !== round) return;
    const left = Math.round((from - offset) / 2 ** 20);
    offset = got.next;
    await write(`\r\n\x1b[7m ${card.dataset.textSkipped.replace("0", left)} \x1b[0m\r\n`);
    await write(wholeLines(got.text));
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && end.hidden) { clearTimeout(timer); follow(); }
  });

  // Search, backwards from the last hit; the part around a hit replaces what is shown.
  let wanted = null, before = 0;
  const find = async (text) => {
    if (text !== wanted) [wanted, before] = [text, length];
    const mine = ++round;
    clearTimeout(timer);
    try {
      let hit = { found: null, searched_to: before };
      while (hit.found === null && hit.searched_to > 0 && mine === round) {
        say(card.dataset.textSearching);
        const query = new URLSearchParams({ q: text, before: hit.searched_to });
        hit = await (await fetch(`${card.dataset.searchUrl}?${query}`)).json();
      }
      if (mine !== round) return;
      if (hit.found === null) {
        wanted = null;
        say(card.dataset.textNothing);
        if (end.hidden) timer = setTimeout(follow, 1000);
        return;
      }
      before = hit.found;
      await show(hit.found);
      say("");
    } catch {
      say(card.dataset.textAway);
      if (end.hidden) timer = setTimeout(follow, 5000);
    }
  };
  const show = async (found) => {
    const from = Math.max(0, found - BEFORE);
    const got = await fetchFrom(from), later = await fetchFrom(found);
    const bytes = new TextEncoder().encode(got.text).slice(0, found - from);
    const earlier = new TextDecoder().decode(bytes);
    terminal.reset();
    await write(from ? wholeLines(earlier) : earlier);
    const marker = terminal.registerMarker(0);
    await write(later.text.slice(0, 2 * BEFORE));
    terminal.scrollToLine(Math.max(0, marker.line - 3));
    terminal.selectLines(marker.line, marker.line);
    end.hidden = false;
  };
  end.addEventListener("click", async () => {
    end.hidden = true;
    wanted = null;
    terminal.reset();
    const from = Math.max(0, length - FIRST), mine = ++round;
    const got = await fetchFrom(from);
    if (mine !== round) return;
    offset = got.next;
    await write(from ? wholeLines(got.text) : got.text);
    follow();
  });
  part("search").form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (part("search").value) find(part("search").value);
  });
  part("error").addEventListener("click", () => find(""));
  follow();
})();
