// A file goes up in parts, with progress; after a cut, or on another day, it goes on where it ended.
(() => {
  const place = document.querySelector("[data-desk-upload]");
  const form = place?.querySelector("form");
  const input = form?.querySelector("input[type=file]");
  if (!input) return;
  const PART = 8 * 2 ** 20;
  const TRIES = 20;
  const card = place.querySelector("[data-upload-progress]");
  const bar = card.querySelector("progress");
  const notice = card.querySelector("[data-upload-notice]");
  const url = place.dataset.deskUpload;
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const ask = async (address, options = {}) => {
    const headers = { "X-CSRFToken": token, ...options.headers };
    const answer = await fetch(address, { ...options, headers });
    const body = await answer.json();
    if (answer.ok || answer.status === 409) return body;
    throw Object.assign(new Error(body.detail ?? answer.statusText), { isFinal: answer.status < 500 });
  };
  const show = (done, size, text = "") => {
    bar.value = done / size;
    const part = place.dataset.textPart;
    notice.textContent = text || part.replace(/[01]/g, (n) =>
      ((n === "0" ? done : size) / 2 ** 20).toFixed(1));
  };
  const key = (file) => `desk-upload ${place.dataset.engagement} ${file.name} ${file.size} ${file.lastModified}`;

  // What was begun with the same file, or a new upload.
  const begun = async (file) => {
    const known = localStorage.getItem(key(file));
    if (known) {
      const found = await ask(`${url}${known}/`).catch(() => null);
      if (found && !found.artifact) return found;
    }
    const body = JSON.stringify({
      engagement: place.dataset.engagement, model: place.dataset.model ?? null, name: file.name,
      size: file.size, note: form.elements.note?.value ?? "",
      purpose: form.elements.purpose?.value ?? "" });
    const made = await ask(url, { method: "POST", body, headers: { "Content-Type": "application/json" } });
    localStorage.setItem(key(file), made.id);
    return made;
  };

  const send = async (file) => {
    let upload = await begun(file);
    let tries = 0;
    while (!upload.artifact) {
      show(upload.received, file.size);
      try {
        const part = file.slice(upload.received, upload.received + PART);
        const answer = await ask(`${url}${upload.id}/content/`, { method: "PUT", body: part, headers: {
          "Content-Type": "application/octet-stream", "Upload-Offset": upload.received } });
        upload = { ...upload, ...answer };
        tries = 0;
      } catch (error) {
        if (error.isFinal || (tries += 1) > TRIES) throw error;
        show(upload.received, file.size, place.dataset.textAgain);
        await new Promise((done) => setTimeout(done, Math.min(30, 2 ** tries) * 1000));
        upload = await ask(`${url}${upload.id}/`).catch(() => upload);
      }
    }
    localStorage.removeItem(key(file));
    window.location.assign(place.dataset.page.replace("/0/", `/${upload.artifact}/`));
  };

  form.addEventListener("submit", (event) => {
    const [file] = input.files;
    if (!file || !file.size) return;
    event.preventDefault();
    const button = form.querySelector("[type=submit]");
    card.hidden = false;
    button.disabled = true;
    send(file).catch((error) => {
      show(0, file.size, error.message);
      button.disabled = false;
    });
  });
})();
