"""What a file says of itself when it must not be taken at face value."""

from django.utils import timezone
from django.utils.translation import gettext as _


def marks(facts: dict, *, is_withdrawn: bool) -> list[str]:
    """Sentences in the active language; none for real data in force."""
    return [sentence for is_marked, sentence in (
        (facts["is_practice"], _("PRACTICE DATA – NOT EVIDENCE")),
        (is_withdrawn, _("WITHDRAWN – this document is no longer in force")),
    ) if is_marked]


def working_copy() -> str:
    """What a print says that shows how things stand today, in the active language."""
    return _("Working copy, %(day)s") % {"day": timezone.localdate()}
