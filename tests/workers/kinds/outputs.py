"""What one good run of each kind left: `tests/samples/kinds/<code>/`."""

from pathlib import Path

from engagements.text.nested_sentences import sentence_of
from workers.kinds.base import Judgement

SAMPLES = Path(__file__).parents[2] / "samples" / "kinds"
Files = dict[str, bytes]


def good(code: str) -> Files:
    """Content by name; `log.txt` is the log."""
    folder = SAMPLES / code
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def text_of(judgement: Judgement) -> str:
    return sentence_of(judgement.message, judgement.values)
