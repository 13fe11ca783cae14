// Before the first paint: the theme the user chose, else the system's.
(() => {
  const kept = localStorage.getItem("desk-theme");
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.setAttribute("data-bs-theme", dark ? "dark" : "light");
})();
