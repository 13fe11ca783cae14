"""Whether a worker still has to read a stored file, for whoever goes on with what it holds."""

import time

from django.utils.translation import gettext as _

from engagements.errors import WrongState
from workers.models import Artifact, ReadingRequest, ReadingState

WAIT_SECONDS, LOOK_SECONDS = 10.0, 0.1


def is_being_read(artifact: Artifact) -> bool:
    """Whether a worker still has to read the file."""
    return ReadingRequest.objects.filter(
        artifact=artifact, state=ReadingState.BEING_READ).exists()


def require_read(*artifacts: Artifact | None) -> None:
    """Raises WrongState for a file that is being read: nobody knows yet what it holds."""
    for artifact in filter(None, artifacts):
        if is_being_read(artifact):
            raise WrongState(_(
                "%(name)s is stored as file %(number)d and still being read. Choose the stored "
                "file once it has been read.") % {
                    "name": artifact.name, "number": artifact.pk})


def wait_until_read(*artifacts: Artifact | None) -> None:
    """Wait a moment for the worker, for a step that goes on with what it reads.

    In no transaction. What is not read within WAIT_SECONDS is refused by `require_read`.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    waiting = [artifact for artifact in artifacts if artifact]
    while time.monotonic() < deadline and any(map(is_being_read, waiting)):
        time.sleep(LOOK_SECONDS)
    for artifact in waiting:
        artifact.refresh_from_db(fields=["note", "rules"])
