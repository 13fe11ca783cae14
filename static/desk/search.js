// The search box: Ctrl-K or / opens it, arrows walk over the hits. Without it, its link opens a page.
(() => {
  const box = document.getElementById("search");
  if (!box || !box.showModal) return;
  const field = box.querySelector("input");
  const hits = () => [...box.querySelectorAll(".desk-hit")];

  const open = () => {
    if (box.open) return;
    box.showModal();
    field.select();
    field.dispatchEvent(new Event("desk:open"));
  };
  const isTyping = (element) => element.closest("input, textarea, select, [contenteditable], .xterm");

  document.addEventListener("keydown", (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
    if (isShortcut || isSlash) {
      event.preventDefault();
      open();
    }
  });
  for (const link of document.querySelectorAll("[data-desk-search]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open();
    });
  }
  box.querySelector("[data-desk-close]").addEventListener("click", () => box.close());
  box.addEventListener("click", (event) => event.target === box && box.close());

  box.addEventListener("keydown", (event) => {
    const all = hits();
    const here = all.indexOf(document.activeElement);
    if (event.key === "ArrowDown" && all.length) (all[here + 1] || all[0]).focus();
    else if (event.key === "ArrowUp") (here > 0 ? all[here - 1] : field).focus();
    else if (event.key === "Enter" && event.target === field && all.length && !event.isComposing) all[0].click();
    else return;
    event.preventDefault();
  });
})();
