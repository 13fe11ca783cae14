// A page that follows a running job is morphed, not replaced: focus, open details and the place stay.
(() => {
  if (!window.Idiomorph) return;
  const defaults = window.Idiomorph.defaults;
  defaults.ignoreActiveValue = true;
  defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(node.tagName === "DETAILS" && name === "open");
})();
