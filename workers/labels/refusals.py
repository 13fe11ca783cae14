"""Why a file was not read and what to do, in the active language; readers write plain English."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workers.models import ReadingRequest

WHY = {
    "took_too_long": gettext_lazy("reading it took longer than one file may take"),
    "too_much_memory": gettext_lazy("reading it took more memory than one file may take"),
    "reader_ended": gettext_lazy("the process that read it ended"),
    "reading_given_up": gettext_lazy("reading it was tried several times and never came to an "
                                     "end"),
    "file_changed": gettext_lazy("the stored file no longer has its recorded checksum"),
}
WHAT_TO_DO = {
    "took_too_long": gettext_lazy("Upload the part that matters, or have the limits raised."),
    "too_much_memory": gettext_lazy("Upload the part that matters, or have the limits raised."),
    "reader_ended": gettext_lazy("Upload the part that matters, or have the limits raised."),
    "reading_given_up": gettext_lazy("Read it again; if that fails too, tell an administrator."),
    "file_changed": gettext_lazy("Tell an administrator: the file store has to be checked."),
}


def refusal_sentence(request: ReadingRequest) -> str:
    """Which file was not read, why, and what to do; empty where none was refused."""
    if not request.refusal_code:
        return ""
    code = request.refusal_code
    return _("%(name)s was not read: %(why)s (%(code)s). %(todo)s") % {
        "name": request.artifact.name, "code": code,
        "why": WHY.get(code) or request.refusal.rstrip("."),
        "todo": WHAT_TO_DO.get(code) or _("Upload the tool's own file, whole and unmodified.")}
