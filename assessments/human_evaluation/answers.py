"""Generated answers in a file of one platform: JSON lines, or one JSON list, of objects."""

import json
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.errors import InvalidInput
from workers.artifacts.artifact_store import local_path
from workers.models import Artifact

PROMPT_KEYS = ("prompt", "question", "instruction", "input", "query")
ANSWER_KEYS = ("answer", "response", "output", "prediction", "generated_text", "completion")
MOST_ITEMS, MOST_CHARACTERS, MOST_BYTES = 500, 8_000, 20 * 2**20


def answers_in(artifact: Artifact) -> dict[str, str]:
    """Prompt → answer, in the order of the file. Raises InvalidInput with file, line and cure."""
    if artifact.size > MOST_BYTES:
        raise InvalidInput(_("%(file)s is larger than 20 MB; choose at most %(n)d prompts.") % {
            "file": artifact.name, "n": MOST_ITEMS})
    with local_path(artifact) as path:
        text = path.read_bytes().decode("utf-8-sig", "replace")
    found: dict[str, str] = {}
    for number, entry in _entries(artifact.name, text):
        prompt, answer = _text(entry, PROMPT_KEYS), _text(entry, ANSWER_KEYS)
        if prompt is None or answer is None:
            raise InvalidInput(_(
                "%(file)s, entry %(n)d: an object with “prompt” and “answer” as texts is "
                "expected.") % {"file": artifact.name, "n": number})
        if prompt in found:
            raise InvalidInput(_("%(file)s, entry %(n)d: this prompt occurs twice.") % {
                "file": artifact.name, "n": number})
        found[prompt] = answer
    if not found or len(found) > MOST_ITEMS:
        raise InvalidInput(_("%(file)s holds %(found)d answers; 1 to %(n)d can be rated.") % {
            "file": artifact.name, "found": len(found), "n": MOST_ITEMS})
    return found


def paired(baseline: Artifact, candidate: Artifact) -> list[dict[str, str]]:
    """[{"prompt", "baseline", "candidate"}]; both files must answer the same prompts."""
    one, other = answers_in(baseline), answers_in(candidate)
    if alone := [prompt for prompt in (*one, *other) if prompt not in one or prompt not in other]:
        raise InvalidInput(ngettext(
            "%(n)d prompt is in only one of the files: %(prompt)s",
            "%(n)d prompts are in only one of the files, first: %(prompt)s", len(alone)) % {
                "n": len(alone), "prompt": alone[0][:80]})
    return [{"prompt": prompt, "baseline": answer, "candidate": other[prompt]}
            for prompt, answer in one.items()]


def _entries(name: str, text: str) -> list[tuple[int, Any]]:
    try:
        if text.lstrip().startswith("["):
            return list(enumerate(json.loads(text), 1))
        lines = [line for line in text.splitlines() if line.strip()]
        return [(number, json.loads(line)) for number, line in enumerate(lines, 1)]
    except (ValueError, RecursionError) as error:
        raise InvalidInput(_("%(file)s cannot be read as JSON Lines or a JSON list: %(why)s.") % {
            "file": name, "why": error}) from error


def _text(entry: Any, keys: tuple[str, ...]) -> str | None:
    found = next((entry[key] for key in keys if key in entry), None) if isinstance(
        entry, dict) else None
    return found[:MOST_CHARACTERS] if isinstance(found, str) and found.strip() else None
