// Requests that a page makes by itself say so: an open page keeps nobody signed in.
window.DESK_POLLING = { "X-Desk-Polling": "yes" };
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (!detail.triggeringEvent) Object.assign(detail.headers, window.DESK_POLLING);
});
