// Signing by passkey: the authenticator signs the challenge of this page, then the form is sent.
(() => {
  const form = document.querySelector("[data-desk-passkey]");
  if (!form) return;
  const request = JSON.parse(document.getElementById("passkey-request").textContent);
  const refused = form.querySelector("[data-desk-passkey-refused]");
  let isAsking = false;

  form.addEventListener("submit", async (event) => {
    if (form.elements.passkey.value) return;
    event.preventDefault();
    if (isAsking) return;
    isAsking = true;
    refused.hidden = true;
    try {
      form.elements.passkey.value = JSON.stringify(await window.webauthnJSON.get(request));
      form.requestSubmit(event.submitter);
    } catch {
      refused.hidden = false;
    }
    isAsking = false;
  });
})();
