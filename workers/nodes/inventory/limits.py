"""What an inventory may be at most, and how one that is hostile or damaged is refused."""

from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput

MAX_BYTES = 2 * 2**20
MAX_UNPACKED = 20 * 2**20  # of a workbook
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 500, 60, 8000  # a certificate of RSA keys has 3,000


@dataclass
class Entry:
    """One machine of a file: where it stands, and its texts by the file's own names."""

    place: str  # a row's number, or a host's name
    values: dict[str, str] = field(default_factory=dict)


def too_many() -> InvalidInput:
    """The refusal of a file with more machines or columns than an inventory has."""
    return InvalidInput(_("The file has more than %(rows)d machines or %(columns)d columns. Delete "
                          "what is empty, or split it.")
                        % {"rows": MAX_ROWS, "columns": MAX_COLUMNS})


def damaged(why: str) -> InvalidInput:
    """The refusal of a file that cannot be read, with the reason."""
    return InvalidInput(_("The file cannot be read: %(why)s.") % {"why": why})
