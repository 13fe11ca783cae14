"""Why a document cannot be sealed now."""

from engagements.errors import DeskError


class SealUnavailableError(DeskError):
    """The document cannot be sealed now: key, certificate or time stamp authority is missing."""

    code = "seal_unavailable"
    status = 503
