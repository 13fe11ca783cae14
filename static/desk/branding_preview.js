// The look of papers: a sample of each language follows the form while it is filled in.
(() => {
  const form = document.querySelector("[data-preview-url]");
  if (!form) return;
  const problem = form.querySelector("[data-preview-problem]");
  const frames = form.querySelectorAll("[data-preview-frame]");
  let waiting, current;

  async function show() {
    current?.abort();
    const { signal } = (current = new AbortController());
    try {
      for (const frame of frames) {
        const body = new FormData(form);
        body.set("show", `sheets:${frame.dataset.previewFrame}`);
        const answer = await fetch(form.dataset.previewUrl, { method: "POST", body, signal });
        if (!answer.ok) throw new Error((await answer.json()).detail);
        frame.srcdoc = await answer.text();
      }
      problem.hidden = true;
    } catch (error) {
      if (signal.aborted) return;
      problem.textContent = error.message;
      problem.hidden = false;
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 300);
  });
  show();
})();
