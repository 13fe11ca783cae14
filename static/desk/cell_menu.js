// The menu of a cell of the matrix: one place for all cells, filled when it is opened. Without this
// file, or in a browser without popovers, the cell's link leads to the menu as a page.
(() => {
  const menu = document.getElementById("cell-menu");
  if (!menu?.showPopover) return;
  const GAP = 4;
  let opener;

  // Below its cell, or above where there is no room; always inside the window.
  const place = () => {
    const cell = opener.getBoundingClientRect();
    const below = cell.bottom + GAP;
    const top = below + menu.offsetHeight > window.innerHeight ? cell.top - GAP - menu.offsetHeight : below;
    menu.style.top = `${Math.max(GAP, Math.min(top, window.innerHeight - menu.offsetHeight - GAP))}px`;
    menu.style.left = `${Math.max(GAP, Math.min(cell.left, window.innerWidth - menu.offsetWidth - GAP))}px`;
  };

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a.desk-more");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    await window.htmx.ajax("GET", link.href, { event, target: menu, swap: "innerHTML" });
    opener = link;
    menu.showPopover();
    place();
    menu.querySelector("button, a")?.focus();
  });
  // A comment replaces the cell's link: the menu goes back to the new one.
  const cell = () => document.getElementById(opener?.id);
  menu.addEventListener("htmx:afterSettle", () => { if (menu.matches(":popover-open")) place(); });
  menu.addEventListener("toggle", (event) => {
    if (event.newState === "closed" && !document.activeElement?.matches("a, button, input, select, textarea")) cell()?.focus();
  });
  window.addEventListener("resize", () => { if (menu.matches(":popover-open")) menu.hidePopover(); });
})();
