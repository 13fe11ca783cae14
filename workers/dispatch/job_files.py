"""Stores a job's log and files, once each, and reads them."""

import io
import re
from fnmatch import fnmatch
from typing import BinaryIO

from django.core.files import File

from toolreaders.base import Reading
from toolreaders.masking import mask_bytes, text_pieces
from workers import kinds
from workers.artifacts import content_store, transfer
from workers.artifacts.artifact_store import (
    Incoming,
    keep_bytes,
    read_artifacts,
    store_file,
    store_files,
    store_rows,
)
from workers.artifacts.transfer import RemoteFile, Unread
from workers.dispatch import extra_logs
from workers.kinds import JobKind
from workers.logs import live_log
from workers.logs.live_log import LOG_NAME
from workers.models import Artifact, Job, Masking
from workers.nodes.ssh import ScriptFailed
from workers.remote import replies
from workers.remote.scripts import Place
from workers.runtimes import chosen
from workers.runtimes.options import NODES_PLOG

MOST_FILES = 5000
MOST_BYTES = 50 * 2**30
LEFT_NAME = "not-collected.txt"
MOST_LISTED = 1000  # of those that were left
NOT_COLLECTED = "not_collected"  # in the results: what could not be read on the node
LIMIT = "limit"  # why a file was left: as many files, or bytes, as are collected of one job
MOST_NAMED = 50  # of those, in the results and in the log
UNREAD_HERE = ("\n[Delivery Desk] 以下 %d 个文件未收集（属主、权限或原因）： / "
               "These files were not collected (owner and mode, or why):\n")
FAILED_SCRIPTS = 5  # after which what has arrived is all that is collected
HELD_BYTES = 4 * 2**20  # of what is masked; more goes to the disk
TEXT_SUFFIXES = (".txt", ".log", ".json", ".csv", ".yaml", ".yml", ".cfg", ".ini", ".sh", ".py")


def collect(job: Job) -> dict:
    """Store the log and every declared file that is not stored yet. Safe to repeat.

    What cannot be read on the node, further logs included, is named in the log and in the results.
    Returns the columns that changed. Raises FileNotFoundError where the job's folder is gone,
    OSError when the store is full, FileChanged, and what `workers.nodes.ssh` raises.
    """
    _store_logs(job)
    if not (wants_files(job) or log_globs(job)):
        store_log(job)
        return {}
    place = replies.place(job)
    found = transfer.list_files(job.access, [place])[place.directory]
    if found is None:
        store_log(job)
        raise FileNotFoundError(place.directory)
    unread = _fetched(job, place, missing_files(job, found))
    known = {entry.file for entry in unread}
    unread += _unread_logs(job, place, [file for file in found if file not in known])
    unread += [Unread(file, "", "", file.special) for file in special_files(job, found)]
    unread += [Unread(file, "", "", LIMIT) for file in within_limits(job, found)[1]]
    changes = _name_unread(job, unread)
    store_log(job)
    _list_left_files(job, found, unread)
    return changes


def _fetched(job: Job, place: Place, files: list[RemoteFile]) -> list[Unread]:
    """Store the files; returns those that cannot be read. A script that fails again and again,
    or in a job that somebody cancelled, ends with what has arrived."""
    unread, missing = [], {file.name: file for file in files}
    try:
        for group in transfer.fetch(job.access, place, files) if files else ():
            arrived = [entry for entry in group if not isinstance(entry, Unread)]
            _store(job, [
                _masked(entry.file.shown_name, entry.stream, entry.digest, entry.node_digest)
                for entry in arrived])
            unread += [entry for entry in group if isinstance(entry, Unread)]
            for entry in group:
                missing.pop(entry.file.name)
    except ScriptFailed as error:
        if job.troubles < FAILED_SCRIPTS and not job.cancel_requested_at:
            raise
        unread += [Unread(file, "", "", str(error)) for file in missing.values()]
    return unread


def _unread_logs(job: Job, place: Place, found: list[RemoteFile]) -> list[Unread]:
    """The further logs that cannot be read: nothing of them was followed."""
    followed = {log.name for log in job.logs.all()}
    silent = [file for file in found if not file.special and (file.size or file.is_closed_folder)
              and file.shown_name not in followed
              and any(_is_named(file, pattern) for pattern in log_globs(job))]
    return transfer.unreadable(job.access, place, silent) if silent else []


def _name_unread(job: Job, unread: list[Unread]) -> dict:
    """Name them once, at the end of the log and in the results."""
    if not unread or NOT_COLLECTED in job.results:
        return {}
    named = [[entry.file.shown_name, entry.owner, entry.mode, entry.why] for entry in unread]
    lines = "".join(f"{name} ({f'{owner} {mode}'.strip() or why})\n"
                    for name, owner, mode, why in named[:MOST_NAMED])
    text = (UNREAD_HERE % len(unread) + lines).encode()
    live_log.write_at(live_log.path(job), job.log_stored, text)
    job.log_stored += len(text)
    job.results = {**job.results,
                   NOT_COLLECTED: {"n": len(unread), "files": named[:MOST_NAMED]}}
    return {"log_stored": job.log_stored, "results": job.results}


PLOG = ("plog/*",)  # ASCEND_PROCESS_LOG_PATH, unless its runtime says otherwise


def _globs(job: Job) -> tuple[str, ...]:
    """What the kind declares; of a run that did not end well also CANN's own log files."""
    has_plog = chosen.of_job(job).options.get("plog") != NODES_PLOG and job.exit_status != 0
    return (*kinds.of_job(job).globs(job.parameters), *(PLOG if has_plog else ()))


def wants_files(job: Job) -> bool:
    """Whether there are files to collect."""
    return bool(_globs(job))


def log_globs(job: Job) -> tuple[str, ...]:
    """Patterns of the job's further logs."""
    return kinds.of_job(job).log_globs(job.parameters)


def follow_logs(job: Job) -> dict:
    """Fetch what is new of the further logs, if there are any and it is time. Returns the columns
    that changed. Raises what `ssh.run` raises."""
    globs = log_globs(job)
    if not globs or not extra_logs.is_due(job):
        return {}
    return extra_logs.follow(job, replies.place(job), globs).changes


def _store_logs(job: Job) -> None:
    """Fetch the rest of the further logs and store them. Safe to repeat."""
    if not (globs := log_globs(job)):
        return
    while extra_logs.follow(job, replies.place(job), globs, is_over=True).has_more:
        pass
    for log in job.logs.all():
        path = live_log.path(log)
        if path.exists() and not job.artifacts.filter(name=log.artifact_name).exists():
            with path.open("rb") as stream:
                store_file(stream=File(stream), name=log.artifact_name, job=job,
                           engagement=job.engagement, model=job.model,
                           masking=Masking.MASKED, is_practice=job.is_practice)


def missing_files(job: Job, found: list[RemoteFile]) -> list[RemoteFile]:
    """Declared files not stored yet, within the limits of number and size."""
    taken = within_limits(job, found)[0]
    if not taken:
        return []
    have = set(job.artifacts.values_list("name", flat=True))
    return [file for file in taken if file.shown_name[:240] not in have]


def within_limits(job: Job, found: list[RemoteFile]) -> tuple[list[RemoteFile], list[RemoteFile]]:
    """The declared files that are collected, and those that the limits leave out."""
    patterns = _globs(job)
    wanted = [file for file in found
              if not file.special and any(_is_named(file, pattern) for pattern in patterns)]
    taken, left, room = [], wanted[MOST_FILES:], MOST_BYTES
    for file in wanted[:MOST_FILES]:
        if file.size <= room:
            room -= file.size
            taken.append(file)
        else:
            left.append(file)
    return taken, left


def special_files(job: Job, found: list[RemoteFile]) -> list[RemoteFile]:
    """What the kind declares and is no plain file: it is named, not collected."""
    patterns = _globs(job)
    return [file for file in found
            if file.special and any(_is_named(file, pattern) for pattern in patterns)]


def _is_named(file: RemoteFile, pattern: str) -> bool:
    """Whether the pattern names the file, or may name files of a folder nobody could look into."""
    if not file.is_closed_folder:
        return fnmatch(file.shown_name, pattern)
    folder, start = file.shown_name + "/", re.split(r"[*?[]", pattern, maxsplit=1)[0]
    return folder == "./" or folder.startswith(start) or start.startswith(folder)


def _list_left_files(job: Job, found: list[RemoteFile], unread: list[Unread]) -> None:
    """A list of what was not collected, beside what was."""
    left = within_limits(job, found)[1]
    if not (left or unread) or job.artifacts.filter(name=LEFT_NAME).exists():
        return
    lines = []
    if left:
        lines += [f"{len(left)} files were not collected: at most {MOST_FILES} files and "
                  f"{MOST_BYTES} bytes are. Size in bytes, name:",
                  *(f"{file.size} {file.shown_name}" for file in left[:MOST_LISTED])]
    if unread:
        lines += [f"{len(unread)} files were not collected. Owner and mode where they could not be "
                  "read, name, what the node said or what they are:",
                  *(f"{entry.owner} {entry.mode} {entry.file.shown_name}: {entry.why}".strip()
                    for entry in unread[:MOST_LISTED] if entry.why != LIMIT)]
    _store(job, [_masked(LEFT_NAME, io.BytesIO("\n".join(lines).encode() + b"\n"))])


def _store(job: Job, files: list[Incoming]) -> None:
    store_files(files, job=job, engagement=job.engagement, model=job.model,
                is_practice=job.is_practice)


def _masked(name: str, stream: BinaryIO, digest: str = "", node_digest: str = "") -> Incoming:
    """The file to store: the same bytes unless they hold something that looks like a secret.

    A file with NULs is not plain text. It stays as it is, unless its name says that it is text:
    then what can be recognised is masked.
    """
    is_called_text, is_text, is_same = name.endswith(TEXT_SUFFIXES), True, True
    target = _target(stream.seek(0, io.SEEK_END))
    stream.seek(0)
    for piece in text_pieces(stream):
        is_text = is_text and b"\0" not in piece
        if not (is_text or is_called_text):
            return Incoming(name, stream, digest, node_digest, Masking.NOT_TEXT)
        masked = mask_bytes(piece)
        is_same = is_same and masked == piece
        target.write(masked)
    outcome = Masking.MASKED if is_text else Masking.NOT_TEXT
    if is_same:
        return Incoming(name, stream, digest, node_digest, outcome)
    return Incoming(name, target, "", node_digest, outcome)


def _target(size: int) -> BinaryIO:
    if size <= HELD_BYTES:
        return io.BytesIO()
    return content_store.temporary_file(Artifact._meta.get_field("file").storage)


def store_log(job: Job, kept: Artifact | None = None) -> None:
    """Store the log as it stands. Safe to repeat.

    Args:
        kept: what `kept_log` returned; the row is held by the caller's audit entry.
    """
    if job.artifacts.filter(name=LOG_NAME).exists():
        return
    if kept:
        store_rows([kept], is_recorded=False)
    elif log := kept_log(job):
        store_rows([log])


def kept_log(job: Job) -> Artifact | None:
    """The log as it stands: its bytes are stored, its row is not saved yet."""
    path = live_log.path(job)
    if not path.exists():
        return None
    with path.open("r+b") as stream:
        stream.truncate(job.log_stored)  # a crash may have left more than the row knows
        stream.seek(0)
        return keep_bytes([Incoming(LOG_NAME, File(stream))], job=job, engagement=job.engagement,
                          model=job.model, masking=Masking.MASKED, is_practice=job.is_practice)[0]


def store_outputs(job: Job, outputs: dict[str, bytes]) -> None:
    """Store the files of a job that ran on the server."""
    for name, data in outputs.items():
        if not job.artifacts.filter(name=name).exists():
            _store(job, [_masked(name, io.BytesIO(data))])


def read_all(artifacts: list[Artifact], kind: JobKind) -> dict[str, Reading]:
    """Readings of a job's artifacts by name; what no reader knows is left out."""
    return read_artifacts([artifact for artifact in artifacts
                           if artifact.name != LOG_NAME or kind.reads_log])
