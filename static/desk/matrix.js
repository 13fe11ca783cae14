// Arrow keys between the cells of the matrix and of the board, as in the grid pattern of WAI-ARIA:
// the table is one stop of the Tab key; Enter follows the cell's link or opens its menu, Space
// selects the cell, in the board its row. Without this file every link is a stop of its own.
(() => {
  const grid = document.querySelector("table[data-desk-grid]");
  if (!grid) return;
  const rows = () => [...grid.tBodies[0].rows];
  const targetOf = (cell) => cell.querySelector("a.desk-more") ?? cell.querySelector("a.desk-cell") ?? cell.querySelector("a, input") ?? cell;
  const cellOf = (element) => element?.closest("tbody td, tbody th");
  let current = cellOf(document.getElementById(location.hash.slice(1))) ?? rows()[0].cells[1];

  // One stop in the whole grid; what else its cells hold is reached by the menu and by Space.
  const rove = () => {
    for (const row of rows()) {
      for (const cell of row.cells) {
        cell.querySelectorAll("a, input, button").forEach((element) => { element.tabIndex = -1; });
        targetOf(cell).tabIndex = cell === current ? 0 : -1;
      }
    }
  };

  const selectedBy = (cell) => (grid.dataset.deskGrid === "rows" ? cell.parentElement : cell);
  const select = (cell) => {
    const box = selectedBy(cell).querySelector("input[type=checkbox]");
    if (box) box.click();
    return Boolean(box);
  };

  const showSelected = (box) => selectedBy(cellOf(box)).setAttribute("aria-selected", box.checked);

  // No start is offered while the turn of none of the selected stages has come.
  const moves = document.getElementById("stage-move"), start = moves?.querySelector("[value=start]");
  const offerStart = () => {
    const boxes = [...grid.querySelectorAll("input[name=record]:checked")];
    document.querySelector("[data-desk-selected]")?.classList.toggle("is-empty", boxes.length === 0);
    if (!start) return;
    start.disabled = boxes.length > 0 && boxes.every((box) => "early" in box.dataset);
    if (moves.selectedOptions[0]?.disabled) moves.value = moves.querySelector(":enabled")?.value ?? "";
  };

  const go = (cell) => {
    if (!cell) return;
    current = cell;
    rove();
    targetOf(cell).focus();
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  const goals = (event) => {
    const list = rows(), row = list.indexOf(current.parentElement), column = current.cellIndex;
    const last = event.ctrlKey ? list.at(-1) : list[row], first = event.ctrlKey ? list[0] : list[row];
    return {
      ArrowRight: () => list[row].cells[column + 1], ArrowLeft: () => list[row].cells[column - 1],
      ArrowDown: () => list[row + 1]?.cells[column], ArrowUp: () => list[row - 1]?.cells[column],
      Home: () => first.cells[0], End: () => [...last.cells].at(-1),
    }[event.key];
  };

  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || event.shiftKey || !cellOf(event.target)) return;
    current = cellOf(event.target);
    const goal = goals(event);
    if (goal) {
      event.preventDefault();
      go(goal());
    } else if (event.key === " " && !event.target.matches("input") && select(current)) {
      event.preventDefault();
    }
  });
  grid.addEventListener("focusin", (event) => { current = cellOf(event.target) ?? current; rove(); });
  grid.addEventListener("change", (event) => { showSelected(event.target); offerStart(); });
  document.body.addEventListener("htmx:afterSettle", rove);
  grid.querySelectorAll("input[type=checkbox]").forEach(showSelected);
  offerStart();
  rove();
  if (location.hash.startsWith("#cell-")) targetOf(current).focus();
})();
