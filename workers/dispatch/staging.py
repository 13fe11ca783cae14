"""Before a job takes cards, what it needs is brought to its node, or found there."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from engagements.audit import audit_log
from engagements.text.nested_sentences import nested
from workers.artifacts import input_sources, input_transfer, node_folders, shared_storage
from workers.artifacts.input_sources import NodeSource, OddName, Source, SourceAway, StoredSource
from workers.artifacts.input_transfer import Brought, Damaged, NotTaken
from workers.dispatch import endings, job_files
from workers.kinds import JobKind
from workers.kinds.judgement import INPUTS
from workers.kinds.parameters import references_in, with_paths
from workers.kinds.references import Reference, reference_of
from workers.models import IN_CONTAINERS, Job, JobInput, JobState
from workers.nodes import ssh
from workers.remote import replies

IN_PLACE_BYTES = 256 * 2**20  # from here on files that the node sees anyway are not copied
PAUSE = timedelta(seconds=20)
Way = JobInput.Way

GONE = gettext_noop("“%(input)s” cannot be transferred: it no longer exists.")
ODD_NAME = gettext_noop("“%(input)s” cannot be transferred: a file name in it holds a line break "
                        "or a backslash (%(name)s).")
TOO_MANY = gettext_noop("“%(input)s” cannot be transferred: it has %(n)d files, and %(most)d are "
                        "the most. Pack them into one file first.")
NOTHING = gettext_noop("“%(input)s” cannot be transferred: there is no file in it. Links in it "
                       "are not followed (%(links)d).")
DAMAGED = gettext_noop("“%(input)s” arrived twice with other checksums than it has at its source. "
                       "It may have been written to meanwhile.")
NO_SPACE = gettext_noop("“%(input)s” does not fit on the node: %(mb)d MB are missing below its "
                        "scratch folder.")
NOT_TAKEN = gettext_noop("The node cannot keep “%(input)s” (%(why)s).")
UNREAD = gettext_noop("“%(input)s” cannot be transferred: the node where it lies does not give it "
                      "(%(why)s).")
SOURCE_AWAY = gettext_noop("Waiting: the node %(node)s, where “%(input)s” lies, does not answer.")


class Stopped(Exception):
    """Somebody cancelled the job while its inputs were on their way."""


class Unusable(Exception):
    """An input cannot be brought; the sentence's message id and its values."""

    def __init__(self, message: str, **values) -> None:
        super().__init__(message)
        self.message, self.values = message, values


@dataclass(frozen=True)
class FolderOnNode:
    """A path of a node: with what to log in, and below which roots it has to lie."""

    access: ssh.Access
    path: str
    roots: list[str]


def path_in_job(job: Job, slot: str, name: str) -> str:
    """Where the job finds an input: on its node, whose shell expands a leading ~, or from its work
    folder on, as a container may see it elsewhere."""
    if _is_in_container(job):
        return f"../inputs/{slot}/{name}"
    return f"{_absolute(job.node.scratch_dir)}/{job.directory_name}/inputs/{slot}/{name}"


def placed_parameters(kind: JobKind, job: Job) -> dict[str, Any]:
    """The job's parameters with the paths at which it finds its inputs."""
    if not references_in(kind.parameters, job.parameters):
        return job.parameters
    return with_paths(kind.parameters, job.parameters, {
        item.slot: path_in_job(job, item.slot, item.name) for item in job.inputs.all()})


def _is_in_container(job: Job) -> bool:
    return job.runtime.get("place") in IN_CONTAINERS or job.node.makes_containers


def _absolute(scratch: str) -> str:
    return scratch if scratch.startswith(("/", "~")) else f"~/{scratch}"


def step(job: Job) -> dict:
    """Bring all inputs that are not there yet; repeated after a crash it goes on.

    Raises what `workers.nodes.ssh` raises of the job's own node.
    """
    for item in job.inputs.select_related("artifact", "source_job__node", "source_job__login",
                                          "source_node"):
        if is_cancelled(job):
            return endings.end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
        try:
            _bring(job, item)
        except Stopped:
            return endings.end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
        except SourceAway as error:
            return {"message": SOURCE_AWAY, "technical_cause": str(error),
                    "message_values": {"node": _source_name(item), "input": item.name},
                    "next_step_at": timezone.now() + PAUSE}
        except Unusable as error:
            return endings.failed(error.message, input=item.name, **error.values)
    return {"state": JobState.LEASING, "message": "", "message_values": {},
            "next_step_at": timezone.now()}


def is_cancelled(job: Job) -> bool:
    return Job.objects.filter(Q(pk=job.pk) | Q(own_gang__members=job),
                              cancel_requested_at__isnull=False).exists()


def _bring(job: Job, item: JobInput) -> None:
    try:
        reference = reference_of(item.reference)
        if reference.kind in ("file", "job"):
            _copy(job, item, *_stored(item, reference))
        else:
            _from_node(job, item, folder_of(item, reference, job))
    except OddName as error:
        raise Unusable(ODD_NAME, name=str(error).encode("unicode_escape").decode()) from error
    except node_folders.Refused as error:
        raise Unusable(gettext_noop("“%(input)s” cannot be transferred: %(why)s"),
                       why=nested(error.message, error.values)) from error
    except ssh.AnswerIncomplete:
        raise
    except ssh.ScriptFailed as error:
        raise Unusable(UNREAD, why=error.words) from error
    except Damaged as error:
        raise Unusable(DAMAGED) from error
    except NotTaken as error:
        if error.wanted:
            raise Unusable(NO_SPACE, mb=-(-error.wanted // 2**20)) from error
        raise Unusable(NOT_TAKEN, why=error.reason) from error


def _stored(item: JobInput, reference: Reference) -> tuple[Source, bool]:
    """The source, and whether it is a folder."""
    if item.artifact:
        return StoredSource([(item.name, item.artifact)]), False
    found = input_sources.stored_files(item.source_job, reference.path)
    if not found:
        raise Unusable(GONE)
    if len(found) == 1 and not found[0][0]:
        return StoredSource([(item.name, found[0][1])]), False
    return StoredSource(found), True


def folder_of(item: JobInput, reference: Reference, job: Job) -> FolderOnNode:
    """Where on which node it lies."""
    if reference.kind == "work":
        source = item.source_job
        root = f"{_absolute(source.node.scratch_dir)}/{source.directory_name}/work"
        path = f"{root}/{reference.path}" if reference.path else root
        return FolderOnNode(source.access, path, [root])
    node = item.source_node
    access = node_folders.access_to(node, job.engagement_id)
    return FolderOnNode(access, f"/{reference.path}", node.roots)


def _from_node(job: Job, item: JobInput, folder: FolderOnNode) -> None:
    with input_sources.source_answers():
        found = node_folders.tree(folder.access, folder.path, folder.roots)
        here = node_folders.mounts(folder.access, folder.path, folder.roots)
    if not found.files:
        raise Unusable(NOTHING, links=found.links)
    if len(found.files) > input_sources.MOST_FILES:
        raise Unusable(TOO_MANY, n=len(found.files), most=input_sources.MOST_FILES)
    may_stay = found.size >= IN_PLACE_BYTES and not _is_in_container(job)  # it sees its mounts only
    if may_stay and (path := _seen_by(job, item, folder, here, found)):
        _use_in_place(job, item, path, found)
        return
    is_file = len(found.files) == 1 and found.files[0].name == PurePosixPath(here.real).name
    source = NodeSource(folder.access, folder.path, folder.roots, found)
    _copy(job, item, source, not is_file)


def _seen_by(job: Job, item: JobInput, folder: FolderOnNode, here: node_folders.Mounts,
             found: node_folders.Tree) -> str:
    source_node = item.source_job.node if item.source_job else item.source_node
    if source_node == job.node and folder.access == job.access:
        return here.real
    return shared_storage.path_on(job.access, here, found)


def _use_in_place(job: Job, item: JobInput, path: str, found: node_folders.Tree) -> None:
    input_transfer.link_to(job.access, replies.place(job), item.slot, item.name, path)
    lines = "".join(f"{file.size} {file.modified_at:%Y-%m-%dT%H:%M:%SZ} {file.name}\n"
                    for file in found.files)
    _settle(job, item, Way.IN_PLACE, lines, files=len(found.files), size=found.size, place=path)


def _copy(job: Job, item: JobInput, source: Source, is_folder: bool) -> None:
    files = source.files()
    brought = Brought(source, files, is_folder)
    total = input_sources.stream_size(files, is_folder)
    JobInput.objects.filter(pk=item.pk).update(files=len(files), size=total)
    place = replies.place(job)
    was_here = input_transfer.bring(job.access, place, brought, job.node.transfer_mbit,
                                    _teller(job, item))
    input_transfer.put_in_place(job.access, place, brought, item.slot,
                                brought.only or item.name)
    _settle(job, item, Way.CACHED if was_here else Way.COPIED,
            input_sources.checksums(files).decode("utf-8", "backslashreplace"),
            files=len(files), size=total, digest=input_sources.digest_of(files))


def _teller(job: Job, item: JobInput) -> Callable[[int], None]:
    owner = threading.current_thread()

    def tell(arrived: int) -> None:
        try:
            JobInput.objects.filter(pk=item.pk).update(arrived=arrived)
            if is_cancelled(job):
                raise Stopped
        finally:
            if threading.current_thread() is not owner:  # one that only feeds the transfer
                connection.close()

    return tell


def _settle(job: Job, item: JobInput, way: str, lines: str, **columns) -> None:
    """Keep how it came, and the list of its files among the job's files: as for `sha256sum -c`, or
    with size and time of what is used in place."""
    with transaction.atomic():
        JobInput.objects.filter(pk=item.pk).update(way=way, arrived=columns["size"], **columns)
        audit_log.record(actor=None, action="job.input", target=job, engagement=job.engagement,
                         data={"slot": item.slot, "way": way, **columns})
    ending = "files.txt" if way == Way.IN_PLACE else "sha256"
    job_files.store_outputs(job, {f"{INPUTS}{item.slot}.{ending}": lines.encode()})


def _source_name(item: JobInput) -> str:
    node = item.source_job.node if item.source_job else item.source_node
    return node.name if node else ""
