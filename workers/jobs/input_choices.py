"""What a person may choose as an input of a job: stored files and folders, folders of nodes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from engagements.access import Can, allowed, require
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from workers.artifacts import node_folders
from workers.artifacts.node_folders import Entry, Folder
from workers.kinds.judgement import FURTHER_LOGS, INPUTS
from workers.models import Artifact, Job, Node
from workers.nodes import ssh


@dataclass(frozen=True)
class NodeRow:
    """An entry of a node's folder, its path, and how a parameter names it."""

    entry: Entry
    path: str
    reference: str


def stored_files(user: User, engagement: Engagement | None, text: str) -> QuerySet[Artifact]:
    """Stored files of the engagement, newest first, that hold the text in name, kind or job."""
    found = Artifact.objects.visible_to(user).filter(engagement=engagement)
    if text.lstrip("#").isdigit():
        found = found.filter(Q(job=int(text.lstrip("#")[:12])) | Q(name__icontains=text))
    elif text:
        found = found.filter(Q(name__icontains=text) | Q(job__kind__icontains=text))
    return found.select_related("job__node").order_by("-pk")


def folders_of(artifacts: list[Artifact]) -> list[tuple[str, Job, str]]:
    """Reference, job and name of all folders that these files of jobs lie in, each once; without
    those in which the desk keeps its own lists."""
    found: dict[str, tuple[str, Job, str]] = {}
    for artifact in artifacts:
        if artifact.job and not artifact.name.startswith((INPUTS, FURTHER_LOGS)):
            for folder in PurePosixPath(artifact.name).parents:
                name = "" if str(folder) == "." else str(folder)
                reference = f"desk:job/{artifact.job_id}" + (f"/{name}" if name else "")
                found[reference] = (reference, artifact.job, name)
    return sorted(found.values(), key=lambda entry: (-entry[1].pk, entry[2]))


@contextmanager
def readable_errors() -> Iterator[None]:
    """What goes wrong on the node becomes a sentence for people: InvalidInput, WrongState."""
    try:
        yield
    except node_folders.Refused as error:
        raise InvalidInput(error.sentence) from error
    except ssh.NodeError as error:
        raise WrongState(_("The node cannot be asked (%(why)s).") % {"why": error}) from error


def browse(user: User, node: Node, engagement: Engagement | None, path: str) -> Folder:
    """What a folder of the node holds, seen with the engagement's log-in where it has one.

    Raises NotAllowed; InvalidInput for what may not be browsed; WrongState for a node that is away.
    """
    require(user, Can.WORK if allowed(user, Can.WORK) else Can.OPERATE, engagement)
    access = node_folders.access_to(node, engagement.pk if engagement else None)
    with readable_errors():
        return node_folders.browse(access, path, node.roots)


def rows_of(node: Node, folder: Folder) -> list[NodeRow]:
    """The folder's entries; names that no parameter can hold have no reference."""
    return [NodeRow(entry, path := f"{folder.path.rstrip('/')}/{entry.name}",
                    f"desk:node/{node.pk}{path}" if path.isprintable() else "")
            for entry in folder.entries]
