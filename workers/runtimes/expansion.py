"""Words of shell text that keep their value, and those in which variables may stand."""

import re

from workers.remote.scripts import quote

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expanding(text: str) -> str:
    """One shell word in which `${NAME}` stands for a variable, empty where it is not set, and a
    leading ~/ for the home folder; all else stays as it is."""
    pieces = VARIABLE.split(text)
    return "".join(f'"${{{piece}-}}"' if number % 2 else _plain(piece, number)
                   for number, piece in enumerate(pieces)) or "''"


def _plain(piece: str, number: int) -> str:
    if not piece:
        return ""
    return quote(piece) if number == 0 else quote("." + piece).replace(".", "", 1) \
        if piece.startswith("~") else quote(piece)
