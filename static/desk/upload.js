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
    return upload.artifact;
  };
  const pageOf = (artifact) => place.dataset.page.replace("/0/", `/${artifact}/`);

  // What a stored file was recognised as, once it is read.
  const tell = async (artifact, line) => {
    const kinds = JSON.parse(document.getElementById("upload-kinds").textContent);
    for (let n = 0; n < 60; n += 1) {
      const found = await ask(`${place.dataset.artifacts}${artifact}/`).catch(() => null);
      const names = found?.readings.map(({ kind }) => kinds[kind] ?? kind) ?? [];
      if (names.length || ["read", "refused"].includes(found?.reading_state)) {
        line.append(` · ${names.join(", ") || found.refusal || place.dataset.textUnknown}`);
        return;
      }
      await new Promise((done) => setTimeout(done, 2000));
    }
  };
  const sendAll = async (files) => {
    for (const file of files) {
      const line = document.createElement("li");
      line.textContent = file.name;
      try {
        const artifact = await send(file);
        if (files.length === 1) return window.location.assign(pageOf(artifact));
        const link = document.createElement("a");
        Object.assign(link, { href: pageOf(artifact), textContent: file.name });
        line.replaceChildren(link);
        tell(artifact, line);
      } catch (error) {
        if (files.length === 1) throw error;
        line.append(`: ${error.message}`);
      }
      card.querySelector("[data-upload-files]").append(line);
    }
    form.reset();
    form.querySelector("[type=submit]").disabled = false;
  };
  input.multiple = true;
  place.querySelector("[data-upload-several]").hidden = false;
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
  });

  form.addEventListener("submit", (event) => {
    const files = [...input.files].filter(({ size }) => size);
    if (!files.length) return;
    event.preventDefault();
    const button = form.querySelector("[type=submit]");
    card.hidden = false;
    button.disabled = true;
    sendAll(files).catch((error) => {
      show(0, files[0].size, error.message);
      button.disabled = false;
    });
  });
})();
