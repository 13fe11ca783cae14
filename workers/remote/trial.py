"""Whether a node can do what jobs need: a shell runs, a file is written and renamed where jobs
live, two sessions are open at once. Its clock and its cards are read on the way."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from toolreaders.environment.npu_smi import Snapshot
from toolreaders.number_parsing import whole_number
from workers.models import Node, NodeLogin
from workers.nodes import ssh
from workers.remote import scripts

SECONDS_DIGITS = 10  # until the year 2286


@dataclass(frozen=True)
class Trial:
    """What a node showed.

    Args:
        refused: why no job could start, a word of `dispatch.sentences.REFUSALS`; "" for none.
        clock_offset_seconds: that the node's clock is ahead of ours; None if it did not say.
        chips: as the reader of npu-smi names them; none where there is no npu-smi.
        sessions: that its sshd lets be open on one connection, if fewer than two.
    """

    refused: str
    clock_offset_seconds: int | None
    chips: list[dict[str, Any]]
    sessions: int | None


def tried(access: Node | NodeLogin) -> Trial:
    """Try it. Raises ssh.NodeError."""
    node = access.node if isinstance(access, NodeLogin) else access
    answer = ssh.run(access, scripts.trial_script(node.scratch_dir))
    text, _mark, table = answer.stdout.decode(errors="replace").partition("desk cards\n")
    words = next((line.split() for line in text.splitlines() if line.startswith("desk tried ")),
                 [])
    if len(words) < 3:
        raise ssh.AnswerIncomplete(answer)
    snapshot = Snapshot(None, None, 0)
    for number, line in enumerate(table.splitlines(), 1):
        snapshot.take(number, line)
    seconds = whole_number(words[3], SECONDS_DIGITS) if len(words) > 3 else None
    ahead = seconds and round(
        (datetime.fromtimestamp(seconds, UTC) - timezone.now()).total_seconds())
    return Trial("" if words[2] == "yes" else words[2], ahead, snapshot.chips,
                 ssh.sessions_at_once(access))
