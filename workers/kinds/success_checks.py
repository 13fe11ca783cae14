"""What forbids to call a run a success, whatever its kind concludes from it.

A command that was not found, an unexpected status, a result that cannot be read or is cut off,
errors in the log, and no proof of the device on which it ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatch

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import nested, ngettext_noop
from toolreaders.accuracy.tool_logs import HARMLESS
from toolreaders.verdicts.devices import NAMED, USED
from workers.kinds.judgement import Finished, JudgedKind, Judgement, not_provable

NOT_FOUND = (126, 127)
MISSING = re.compile(
    r"^(?:.*: )?(?P<shell>[\w./+-]+): (?:command )?not found$"
    r"|^desk: (?P<desk>\S+) is neither on the path", re.MULTILINE)
CUT_OFF = frozenset({"truncated_record", "unfinished_line", "run_not_finished", "damaged_lines"})
ERROR = re.compile(
    r"\[(?:ERROR|CRITICAL|FATAL)\]|(?:^|\s)- (?:ERROR|CRITICAL) -"
    r"|^\s*(?:ERROR|CRITICAL|FATAL)\s*[:\]]|^Traceback \(most recent call last\)"
    r"|^(?:[\w.]+\.)?\w+(?:Error|Exception)(?::|$)"
    r"|Segmentation fault|^E[A-Z]?\d{4,5}: ")
FAULT = re.compile(r"CUDA error|checksum refused")  # that kinds ask for beside the errors
LISTED = 3

Check = Callable[[JudgedKind, Finished, Judgement], Judgement]


def checked(kind: JudgedKind, finished: Finished) -> Judgement:
    """The kind's own conclusion; of a success only what the checks leave of it."""
    if finished.exit_status in NOT_FOUND:
        return _not_found(finished)
    judgement = kind.conclude(finished)
    for check in CHECKS:
        if judgement.is_success:
            judgement = check(kind, finished, judgement)
    return judgement


def _not_found(finished: Finished) -> Judgement:
    hit = MISSING.search(finished.log)
    values = {"status": finished.exit_status, "tool": (hit["shell"] or hit["desk"]) if hit else ""}
    if hit:
        return Judgement(False, gettext_noop(
            "The command “%(tool)s” was not found on the node (status %(status)s): nothing was "
            "looked at."), values)
    return Judgement(False, gettext_noop(
        "A command was not found or may not be run (status %(status)s): nothing was looked at. The "
        "log names it."), values)


def _status(kind: JudgedKind, finished: Finished, judgement: Judgement) -> Judgement:
    if finished.exit_status in kind.statuses_for(finished.parameters):
        return judgement
    return Judgement(False, gettext_noop(
        "The command ended with status %(status)s: what it left may be partial and is not "
        "counted."), {"status": finished.exit_status})


def judged_names(kind: JudgedKind, finished: Finished) -> list[str]:
    """The collected files that the kind judges; the log names those of no bytes."""
    return [name for name in finished.files
            if any(fnmatch(name, pattern) for pattern in kind.judged_files)
            and not finished.is_empty(name)]


UNREADABLE = ngettext_noop(
    "%(unread)d of %(files)d result files cannot be read (%(which)s): what it holds was not "
    "looked at, and nothing is concluded.",
    "%(unread)d of %(files)d result files cannot be read (%(which)s): what they hold "
    "was not looked at, and nothing is concluded.", "unread")


def _readable(kind: JudgedKind, finished: Finished, judgement: Judgement) -> Judgement:
    names = judged_names(kind, finished)
    unread = [name for name in names if name not in finished.readings]
    if not unread:
        return judgement
    return Judgement(False, UNREADABLE, {
        "unread": len(unread), "files": len(names), "which": _listed(unread)})


def _whole(kind: JudgedKind, finished: Finished, judgement: Judgement) -> Judgement:
    cut = [name for name in judged_names(kind, finished)
           if CUT_OFF & {warning.code for warning in finished.readings[name].warnings}]
    if not cut:
        return judgement
    return Judgement(False, gettext_noop(
        "Cut off: %(which)s. What is missing there was not looked at, and nothing is concluded."),
        {"which": _listed(cut)})


def counts(line: str) -> bool:
    """Whether a line says something of the run wherever it stands in the log."""
    return bool(line.startswith(("desk: ", "desk runtime:")) or ERROR.search(line)
                or FAULT.search(line) or NAMED.search(line))


def error_lines(log: str) -> list[str]:
    """Lines that report an error; those that tools print on success too are left out."""
    return [line for line in log.splitlines() if ERROR.search(line) and not HARMLESS.search(line)]


def _errors(kind: JudgedKind, finished: Finished, judgement: Judgement) -> Judgement:
    found = error_lines(finished.log)
    if not found:
        return judgement
    values = {"n": len(found), "first": found[0].strip()[:200]}
    if kind.may_log_errors:
        return replace(judgement, message=gettext_noop(
            "%(told)s The log also holds errors that were not judged (%(n)d, first: %(first)s)."),
            values={**values, "told": nested(judgement.message, judgement.values)},
            results={**judgement.results, "log_errors": len(found)})
    return Judgement(False, gettext_noop(
        "The log holds errors (%(n)d, first: %(first)s): what was left out is not known, and the "
        "result is not counted."), values)


def device_proven(kind: JudgedKind, finished: Finished, judgement: Judgement) -> Judgement:
    device = kind.device_in(finished)
    if device:
        return replace(judgement, results={**judgement.results, "device": device})
    if not kind.device_claim(finished.parameters) or finished.is_of_source:
        return judgement
    other = sorted({f"gpu {hit['index']}" for hit in USED.finditer(finished.log)})
    if other:
        return not_provable("device", gettext_noop(
            "Not provable: the processes of the job used %(device)s, and no NPU."),
            {"device": ", ".join(other)}, judgement.results)
    return not_provable("device", gettext_noop(
        "Not provable: the command succeeded, but neither its log nor npu-smi nor the open files "
        "of its processes show that an NPU was used."), {}, judgement.results)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:LISTED]) + (" …" if len(names) > LISTED else "")


CHECKS: tuple[Check, ...] = (_status, _readable, _whole, _errors, device_proven)
