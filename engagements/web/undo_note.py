"""The note with which a page offers to take back what was just done.

It is signed, for one person and a short time, and holds nothing but the action and its facts; what
takes it back is declared in `delivery.undo.actions`.
"""

from datetime import timedelta
from typing import Any

from django.core import signing
from django.utils.translation import gettext as _

from engagements.errors import WrongState
from engagements.models import User

LIFETIME = timedelta(minutes=30)
SALT = "engagements.undo"


def write_note(actor: User, action: str, facts: dict[str, Any]) -> str:
    """The note for the toast: who did which action, and the facts its inverse asks for."""
    return signing.dumps([actor.pk, action, facts], salt=SALT, compress=True)


def read_note(actor: User, note: str) -> tuple[str, dict[str, Any]]:
    """Action and facts. WrongState for a note that is too old, somebody else's or none."""
    try:
        writer, action, facts = signing.loads(note, salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        writer, action, facts = None, "", {}
    if writer != actor.pk:
        raise WrongState(_("This can no longer be undone."))
    return action, facts
