"""Brings inputs to a node: resumed after a cut, as fast as allowed, kept under their checksums."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from workers.artifacts import input_sources
from workers.artifacts.input_sources import InputFile, Source
from workers.nodes import ssh
from workers.remote import folders as scripts
from workers.remote.scripts import Place

ATTEMPTS = 5
TELL_SECONDS = 1.0
SLOW = 3600
LONGEST = 7 * 24 * 3600  # of one transfer


class NotTaken(Exception):
    """The node cannot keep it: `reason` is a word of receive.sh; `wanted` bytes are missing."""

    def __init__(self, reason: str, wanted: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.wanted = reason, wanted


class Damaged(Exception):
    """What arrived has other checksums than its source had, twice."""


@dataclass(frozen=True)
class Brought:
    """An input to be brought: its files, whether they travel as one archive."""

    source: Source
    files: Sequence[InputFile]
    is_packed: bool

    @property
    def key(self) -> str:
        """Its name on nodes: made of its content."""
        return f"{'tree' if self.is_packed else 'file'}-{input_sources.digest_of(self.files)}"

    @property
    def only(self) -> str:
        return "" if self.is_packed else self.files[0].name


def bring(access: ssh.Access, place: Place, brought: Brought, mbit: int,
          tell: Callable[[int], None]) -> bool:
    """Bring it to the node's store of inputs. True if it was there before.

    Args:
        mbit: at most so many Mbit/s; 0 for no limit.
        tell: called about once a second with the bytes of the transfer that are there; what it
            raises ends the transfer, which goes on from there the next time.
    Raises NotTaken, Damaged, and what `ssh.run` raises.
    """
    for _try in (1, 2):
        words = _answered_words(ssh.run(access, scripts.ask_script(place, brought.key), SLOW))
        if words[:1] == ["here"]:
            return True
        _send(access, place, brought, mbit, tell, have=int(words[1]), free_kb=int(words[2]))
        lines = input_sources.checksums(brought.files)
        answer = ssh.upload(access, scripts.finish_script(place, brought.key, brought.only),
                            [lines], SLOW)
        if _answered_words(answer)[:1] == ["here"]:
            return False
    raise Damaged(brought.key)


def _send(access: ssh.Access, place: Place, brought: Brought, mbit: int,
          tell: Callable[[int], None], have: int, free_kb: int) -> None:
    total = input_sources.stream_size(brought.files, brought.is_packed)
    missing = total - have + (total if brought.is_packed else 0)
    if missing > free_kb * 1024:
        raise NotTaken("no_space", missing - free_kb * 1024)
    for attempt in range(1, ATTEMPTS + 1):
        pieces = input_sources.stream(brought.source, brought.files, brought.is_packed, have)
        try:
            answer = ssh.upload(access, scripts.receive_script(place, brought.key, have),
                                _paced(pieces, have, mbit, tell), LONGEST)
        except ssh.Unreachable:
            if attempt == ATTEMPTS:
                raise
            answer = ssh.run(access, scripts.ask_script(place, brought.key), SLOW)
        have = int(_answered_words(answer)[1])
        tell(have)
        if have >= total:
            return
    raise ssh.Unreachable("the connection is cut again and again while files are brought")


def _paced(pieces: Iterable[bytes], have: int, mbit: int, tell: Callable[[int], None]
           ) -> Iterator[bytes]:
    began = logged_at = time.monotonic()
    sent = 0
    for piece in pieces:
        yield piece
        sent += len(piece)
        if mbit:
            time.sleep(max(0.0, began + sent * 8 / (mbit * 1e6) - time.monotonic()))
        if time.monotonic() - logged_at >= TELL_SECONDS:
            logged_at = time.monotonic()
            tell(have + sent)


def put_in_place(access: ssh.Access, place: Place, brought: Brought, slot: str, shown: str) -> None:
    """Let the job find it in its folder. Raises NotTaken, and what `ssh.run` raises."""
    script = scripts.place_script(place, brought.key, slot, shown, brought.is_packed)
    _answered_words(ssh.run(access, script, SLOW))


def link_to(access: ssh.Access, place: Place, slot: str, shown: str, path: str) -> None:
    """Let the job find in its folder what lies elsewhere on the node. Raises as `put_in_place`."""
    _answered_words(ssh.run(access, scripts.link_script(place, slot, shown, path)))


def _answered_words(answer: ssh.Answer) -> list[str]:
    """The words after `desk input`. Raises NotTaken for a refusal, AnswerIncomplete for others."""
    for line in answer.stdout.decode(errors="replace").splitlines():
        words = line.split()
        if words[:2] == ["desk", "refused"]:
            raise NotTaken(words[2])
        if words[:2] == ["desk", "input"] and len(words) > 2:
            return words[2:]
        if words[:2] == ["desk", "placed"]:
            return []
    raise ssh.AnswerIncomplete(answer)
