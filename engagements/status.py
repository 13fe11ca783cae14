"""What a state looks like: colour, icon and, where no column names it, its word (DOMAIN 12).

Pages, documents, office files, the plan's bars and notices read this table. Green says passed or
accepted, red failed, amber doubt or delay, blue that it goes on; what has merely ended is grey.
"""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

COLOURS = GREEN, BLUE, AMBER, RED, GREY = "green", "blue", "orange", "red", "secondary"
PALE = {GREEN: "E6F4EA", AMBER: "FDF3DC", RED: "FDE8E6"}  # fills of tables in print
_TABLE = (  # colour, icon, codes
    (GREEN, "check", "passed confirmed approved accepted agreed deemed signed met ok OK green"),
    (BLUE, "clock", "in_progress submitted running starting collecting reading leasing staging "
                    "issued in_review reviewed being_read sending issuing "
                    "looking answered invoiced"),
    (BLUE, "info-circle", "chosen"),
    (AMBER, "clock", "late due"),
    (AMBER, "alert-triangle",
     "waived conditional not_provable warning expired pending maintenance unknown timed_out "
     "not_measured away login key shell Warning yellow medium major open missing revoked "
     "to_confirm"),
    (RED, "alert-circle", "failed sent_back rejected refused declined lost quarantined "
                          "Alarm Critical high blocking occurred red overdue"),
    (GREY, "circle-dashed", "not_started skipped draft cancelled superseded withdrawn queued low "
                            "minor waiting untried not_won"),
    (GREY, "player-play", "active ready frozen applied converted"),
    (GREY, "lock", "closed retired disabled paid"),
    (GREY, "terminal-2", "succeeded done sent read"),
)
WORDS = {"met": _("Met"), "missing": _("Missing"), "failed": _("Failed"), "waived": _("Waived"),
         "not_measured": _("Not measured"), "not_provable": _("Not provable")}


@dataclass(frozen=True)
class Look:
    """Colour and icon of a state."""

    colour: str = GREY
    icon: str = "circle-dashed"


LOOKS = {code: Look(colour, icon) for colour, icon, codes in _TABLE for code in codes.split()}


def look(code: str) -> Look:
    """How a state looks; grey for a code without a row."""
    return LOOKS.get(code, Look())


def codes_of(colour: str) -> list[str]:
    """All states of a colour, in the table's order."""
    return [code for code, found in LOOKS.items() if found.colour == colour]
