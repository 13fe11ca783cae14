"""Entries of an audit log that can be recomputed outside: JSON lines.

    {"format": 1, "of": {…}, "head": {"number": 9, "hash": "…", "root": "…", "at": "…"}}
    {"number": 3, "at": …, "actor": 7, "action": …, "previous_hash": "…", "hash": "…", "who": "…"}
    {"number": 4, "at": …, "action": …, "hash": "…", "is_withheld": true}
    {"nodes": {"0-2": "…", "4-8": "…"}}

The hash of an entry is over its facts and the hash of the one before it (`entry_hash`). The root is
that of the Merkle tree of RFC 6962, whose leaves are the hashes of all entries up to the head's
number; `nodes` holds the hashes of its subtrees that have no entry here ("first-behind the last",
counted from 0), so that the root follows from the file alone. `who` stands in no hash.
"""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bundle_verifier.canonical import content_hash
from bundle_verifier.check_steps import CheckStep
from bundle_verifier.json_limits import parse_json
from bundle_verifier.translation import gettext as _
from bundle_verifier.translation import ngettext

FORMAT = 1
FILE = "log.jsonl"  # in a bundle
HASHED = ("number", "previous_hash", "at", "actor", "action", "target_type", "target_id",
          "target_label", "data", "engagement", "rows")
LEAF, NODE = b"\0", b"\1"  # RFC 6962, 2.1


def entry_hash(facts: dict[str, Any]) -> str:
    """SHA-256 over an entry's own facts, its number and the previous hash among them."""
    return content_hash([facts[name] for name in HASHED])


def tree_root(count: int, leaves: dict[int, str], away: Callable[[int, int], bytes]) -> str:
    """The root over `count` entries.

    Args:
        leaves: hashes of entries by their place, counted from 0.
        away: the hash of a subtree, from its first place to the one behind its last, of which no
            entry is among `leaves`.
    """
    return subtree(0, count, leaves.__getitem__, sorted(leaves), away).hex()


def subtree(first: int, behind: int, hash_of: Callable[[int], str], places: list[int],
            away: Callable[[int, int], bytes]) -> bytes:
    """The hash of a part of the tree; see `tree_root`."""
    at = bisect_left(places, first)
    if at == len(places) or places[at] >= behind:
        return away(first, behind)
    if behind - first == 1:
        return hashlib.sha256(LEAF + bytes.fromhex(hash_of(first))).digest()
    middle = first + (1 << (behind - first - 1).bit_length() - 1)
    return hashlib.sha256(NODE + subtree(first, middle, hash_of, places, away)
                          + subtree(middle, behind, hash_of, places, away)).digest()


def lines(head: dict[str, Any], of: dict[str, Any], entries: Iterable[dict[str, Any]],
          away: Callable[[int, int], bytes]) -> Iterator[str]:
    """The file, line by line. Entries are given oldest first; `away` as in `tree_root`."""
    yield _line({"format": FORMAT, "of": of, "head": head})
    leaves, nodes = {}, {}
    for facts in entries:
        leaves[facts["number"] - 1] = facts["hash"]
        yield _line(facts)

    def kept(first: int, behind: int) -> bytes:
        nodes[f"{first}-{behind}"] = (found := away(first, behind)).hex()
        return found

    tree_root(head["number"], leaves, kept)
    yield _line({"nodes": nodes})


def _line(facts: dict[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":")) + "\n"


def check(path: Path) -> Iterator[CheckStep]:
    """Recompute each hash, the order of neighbours, and the root over the whole log."""
    try:
        with path.open(encoding="utf-8", errors="surrogatepass") as stream:
            yield from _check(stream)
    except (KeyError, TypeError, ValueError, RecursionError, OSError) as error:
        yield CheckStep(False, _("The log's entries cannot be read: %(problem)s") % {
            "problem": repr(error)})


def _check(stream: Iterable[str]) -> Iterator[CheckStep]:
    rows = (parse_json(line, may_be_infinite=True) for line in stream)
    head = next(rows)["head"]
    leaves, nodes, before, withheld, is_good = {}, None, (0, ""), 0, True
    for row in rows:
        if "nodes" in row:
            nodes = row["nodes"]
            continue
        number, digest = row["number"], row["hash"]
        is_away = bool(row.get("is_withheld"))
        withheld += is_away
        problem = "" if is_away or entry_hash(row) == digest else _("its hash is another")
        if number <= before[0] or number > head["number"]:
            problem = _("its number is out of order")
        elif number == before[0] + 1 and before[1] and not is_away and (
                row["previous_hash"] != before[1]):
            problem = _("it does not follow the entry before it")
        if problem:
            is_good = False
            yield CheckStep(False, _("Entry %(number)s of the log: %(problem)s.") % {
                "number": number, "problem": problem})
        leaves[number - 1], before = digest, (number, digest)
    root = tree_root(head["number"], leaves,
                     lambda first, behind: bytes.fromhex(nodes[f"{first}-{behind}"]))
    if root != head["root"] or leaves.get(head["number"] - 1, head["hash"]) != head["hash"]:
        yield CheckStep(False, _("The log's entries do not lead to its head: found root %(found)s, "
                                 "stated %(stated)s.") % {"found": root, "stated": head["root"]})
    elif is_good:
        yield CheckStep(True, ngettext(
            "%(n)d entry of the log (contents withheld: %(away)d) was recomputed and stands in the "
            "log of %(number)d entries whose root is %(root)s.",
            "%(n)d entries of the log (contents withheld: %(away)d) were recomputed and stand in "
            "the log of %(number)d entries whose root is %(root)s.", len(leaves)) % {
            "n": len(leaves), "away": withheld, "number": head["number"], "root": root})
