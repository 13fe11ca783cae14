"""The codes of what is wrong with the log or a row, in the reader's language."""

from django.utils.translation import pgettext_lazy

LABELS = {
    "changed": pgettext_lazy("audit log", "changed"),
    "order": pgettext_lazy("audit log", "does not follow the entry before it"),
    "seal": pgettext_lazy("audit log", "its seal is not valid"),
    "end": pgettext_lazy("audit log", "entries after it are missing or added"),
    "unsealed": pgettext_lazy("audit log", "as the log's end it has no valid seal"),
    "cut": pgettext_lazy("audit log", "was seen here and is missing, with what followed it"),
    "replaced": pgettext_lazy("audit log", "another entry was seen here before"),
    "missing": pgettext_lazy("audit log", "missing"),
    "unreadable": pgettext_lazy("audit log", "cannot be read"),
    "unknown": pgettext_lazy("audit log", "not written by the application"),
}
