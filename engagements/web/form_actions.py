"""What every view of a form does: one service call, then a message."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from engagements.decisions import SignInTooOld
from engagements.errors import DeskError
from engagements.optimistic_locking import EditConflict
from engagements.text.text_joining import in_turn, labelled
from engagements.web.undo_note import write_note

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def attempt(request: HttpRequest, service: Callable[[], Any],
            success: str | Callable[[], str],
            undo: Callable[[Any], tuple[str, dict] | None] | None = None) -> Any:
    """Call the service and show its outcome as a message. None after an expected failure.

    Args:
        success: a function where the sentence depends on what the service did.
        undo: of what the service answered, the action of `delivery.undo.actions` and its facts;
            the message then offers to take it back. None where it cannot be taken back.
    """
    try:
        result = service()
    except SignInTooOld:
        raise  # leads to the sign-in and back
    except DeskError as error:
        messages.error(request, error.message)
        return None
    taken_back_by = undo(result) if undo else None
    messages.success(request, success() if callable(success) else success,
                     extra_tags=write_note(request.user, *taken_back_by) if taken_back_by else "")
    return result if result is not None else True


def state_reached(row: Any, name: str = "") -> str:
    """What a move has done with the row, read anew: its name and the state it is in now."""
    row.refresh_from_db(fields=["state"])
    return _("%(name)s is now “%(state)s”.") % {
        "name": name or str(row), "state": row.get_state_display()}


def attempt_form(form, service: Callable[[], Any]) -> Any:
    """Call the service for a valid form; an expected failure becomes an error of the form.

    None then; else what the service answered, True where it answers nothing. After a conflict the
    form shows what changed and carries the newer version, so that the writer may look and save
    again.
    """
    try:
        return service() or True
    except EditConflict as error:
        form.add_error(None, error.message)
        form.data = form.data.copy()
        form.data[form.add_prefix(error.seen_as)] = error.details[error.newest]
        return None
    except SignInTooOld:
        raise
    except DeskError as error:
        at_fields = error.details.get("parameters") or {"": [error.message]}
        for name, sentences in at_fields.items():
            for sentence in sentences:
                form.add_error(name if name in form.fields else None, sentence)
        return None


def show_errors(request: HttpRequest, form) -> None:
    """Say as a message why a form is refused that the next page does not show again."""
    messages.error(request, in_turn(
        labelled(form[name].label, " ".join(errors)) if name in form.fields else " ".join(errors)
        for name, errors in form.errors.items()))
