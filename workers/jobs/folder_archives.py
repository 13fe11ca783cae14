"""Folders as tar archives, passed on piece by piece: of a node, and of a job's stored files."""

from collections.abc import Iterator

from engagements.access import Can, allowed, require
from engagements.models import Engagement, User
from workers.artifacts import input_sources, node_folders
from workers.artifacts.input_sources import StoredSource
from workers.jobs import input_choices
from workers.models import Job, Node


def of_node(user: User, node: Node, engagement: Engagement | None, path: str) -> Iterator[bytes]:
    """A folder or file below what may be browsed.

    Raises at once NotAllowed, InvalidInput and WrongState as `input_choices.browse` does.
    """
    require(user, Can.WORK if allowed(user, Can.WORK) else Can.OPERATE, engagement)
    access = node_folders.access_to(node, engagement.pk if engagement else None)
    with input_choices.readable_errors():
        return node_folders.archive(access, path, node.roots)


def of_job(job: Job, path: str) -> tuple[Iterator[bytes], int]:
    """Stored files below a folder of the job, and the length of the archive; 0 without a file."""
    named = [(name or path.rpartition("/")[2], artifact)
             for name, artifact in input_sources.stored_files(job, path)]
    if not named:
        return iter(()), 0
    source = StoredSource(named)
    files = source.files()
    return (input_sources.stream(source, files, True, 0),
            input_sources.stream_size(files, True))
