// The look of papers: a sample of each language follows the form while it is filled in.
(() => {
  const form = document.querySelector("[data-identity]");
  if (!form) return;
  const problem = form.querySelector("[data-identity-problem]");
  const frames = form.querySelectorAll("[data-identity-frame]");
  let waiting, current;

  async function show() {
    current?.abort();
    const { signal } = (current = new AbortController());
    try {
      for (const frame of frames) {
        const body = new FormData(form);
        body.set("show", `sheets:${frame.dataset.identityFrame}`);
        const answer = await fetch(form.dataset.identity, { method: "POST", body, signal });
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
