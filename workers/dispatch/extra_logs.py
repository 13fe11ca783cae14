"""Further log files of a job: found by patterns, followed over rotation, masked, one text each.

A logger renames the file that is full and begins a new one (logrotate, Python's
RotatingFileHandler), or copies it away and empties it (copytruncate). So a file is known by its
inode: what is renamed is read to its end before what is new, and what became shorter is read from
its beginning.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from toolreaders.masking import mask_bytes, safe_cut
from toolreaders.number_parsing import whole_number
from workers.artifacts import node_folders
from workers.artifacts.node_folders import Entry
from workers.logs import early_warnings, live_log
from workers.models import Job, JobLog
from workers.nodes import ssh
from workers.remote import job_logs as scripts
from workers.remote.scripts import Place

ROTATED = re.compile(r"(?:\.\d{1,4}|[.-]\d{8}(?:[-_.T]?\d{2,6})?(?:\.\d{1,4})?)$")
SECONDS = 5  # between two looks while the job runs
MOST_LOGS, MOST_FILES = 20, 200
MOST_LISTS = 4  # of one look
PART = 512 * 1024
MARK = b"desk parts\n"


@dataclass
class Look:
    """What one look brought: columns of the job that change, whether there is more."""

    changes: dict = field(default_factory=dict)
    has_more: bool = False


def family(name: str) -> str:
    """The log that a file belongs to: its name without what rotation adds."""
    return ROTATED.sub("", name)


def is_due(job: Job) -> bool:
    """Whether the last look is long enough ago."""
    return timezone.now().timestamp() - (job.remote.get("logs_looked_at") or 0) >= SECONDS


def follow(job: Job, place: Place, globs: Sequence[str], is_over: bool = False) -> Look:
    """Fetch what is new. Repeating it after a crash writes the same bytes in the same places.

    Args:
        is_over: the job writes no more: lines without an end are taken, too.
    Raises what `ssh.run` raises.
    """
    look = Look()
    logs = {log.name: log for log in job.logs.all()}
    by_family = _listed_whole(job, place, globs, logs)
    for name in sorted(by_family)[:MOST_LOGS]:
        log = logs.get(name) or JobLog(job=job, name=name[:200])
        _follow_one(job, place, log, by_family[name], is_over, look)
    if not is_over:
        look.changes["remote"] = {**job.remote, "logs_looked_at": timezone.now().timestamp()}
    return look


def _listed_whole(job: Job, place: Place, globs: Sequence[str],
                  logs: dict[str, JobLog]) -> dict[str, list[Entry]]:
    """The files of each log, listed again while a rotation seems to be under way.

    What still looks torn after some lists was rotated without being kept.
    """
    for _try in range(MOST_LISTS):
        by_family = _families(_listed(job, place, globs))
        if not any(_is_torn(logs[name], by_family[name])
                   for name in by_family.keys() & logs.keys()):
            break
    return by_family


def _families(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if not entry.name.endswith((".gz", ".bz2", ".xz", ".zst")):
            found.setdefault(family(entry.name), []).append(entry)
    return found


def _is_torn(log: JobLog, entries: Sequence[Entry]) -> bool:
    """Whether a list was made while the log was being rotated: it names the new file and not yet
    the one that was read so far, whose rest would come after what is newer."""
    return bool(log.read) and not any(str(entry.inode) in log.read for entry in entries)


def _listed(job: Job, place: Place, globs: Sequence[str]) -> list[Entry]:
    """Older files before newer ones: what was rotated before what is written to."""
    answer = ssh.run(job.access, scripts.list_script(place, globs)).stdout
    found = node_folders.entries_after(answer, b"desk tree 0\n")
    return sorted(found, key=lambda entry: (entry.modified_at, not _is_rotated(entry.name),
                                            entry.name))[-MOST_FILES:]


def _is_rotated(name: str) -> bool:
    return family(name) != name


def _without_copies(log: JobLog, entries: Sequence[Entry]) -> None:
    """What copytruncate copied away was read from the file that is now empty.

    A rename would have given the log another inode; so a new file beside the known one is a copy.
    """
    active = next((entry for entry in entries if entry.name == log.name), None)
    read = log.read.get(str(active.inode)) if active else None
    if read is None:
        return
    copies = {str(entry.inode): min(entry.size, read) for entry in entries
              if str(entry.inode) not in log.read}
    log.read = {**log.read, **copies}


def _follow_one(job: Job, place: Place, log: JobLog, entries: Sequence[Entry], is_over: bool,
                look: Look) -> None:
    """The next part of the first file of the log that has one; the files after it wait for it."""
    _without_copies(log, entries)
    for entry in entries:
        offset = log.read.get(str(entry.inode), 0)
        offset = offset if offset <= entry.size else 0  # it was emptied since
        if entry.size <= offset:
            continue
        is_last = entry.name == log.name
        chunk = _part(job, place, entry, offset)
        if (is_last and not is_over) or offset + len(chunk) < entry.size:
            chunk = chunk[:safe_cut(chunk)]
        if not chunk:
            return
        _keep(job, log, entry, offset, chunk, look)
        if offset + len(chunk) < entry.size:
            look.has_more = True
            return


def _part(job: Job, place: Place, entry: Entry, offset: int) -> bytes:
    script = scripts.parts_script(place, [(entry.name, entry.inode, offset, PART)])
    answer = ssh.run(job.access, script)
    head, _newline, rest = answer.stdout.partition(MARK)[2].partition(b"\n")
    length = whole_number(head.decode(errors="replace").removeprefix("desk part "))
    if length is None or len(rest) < length:
        raise ssh.AnswerIncomplete(answer)
    return rest[:length]


def _keep(job: Job, log: JobLog, entry: Entry, offset: int, chunk: bytes, look: Look) -> None:
    if log.pk is None:
        log.save()
    masked = live_log.within_limit(log, mask_bytes(chunk))
    live_log.write_at(live_log.path(log), log.log_stored, masked)
    log.log_stored += len(masked)
    log.read = {**log.read, str(entry.inode): offset + len(chunk)}
    log.save(update_fields=["log_stored", "read"])
    seen = {**live_log.progress_in(chunk), **early_warnings.found(job, chunk)}
    look.changes |= {"log_grew_at": timezone.now(), **seen}
    for column, value in seen.items():
        setattr(job, column, value)
