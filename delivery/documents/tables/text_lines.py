"""How many lines a text takes in a column, from estimated widths of its letters."""

import re
import unicodedata
from itertools import groupby
from math import ceil

EM = 3.0  # mm at 8.5 pt; a Chinese letter is as wide as it is high
SAFE = 1.03  # letters of other languages, bold ones
OTHER = 0.55  # of an em: letters that are not listed
# Widths of letters in ems, rounded up: Noto Sans CJK SC Regular 2.004, horizontal advances.
WIDTHS = {letter: width for width, letters in (
    (0.25, " |"), (0.3, "!',.:;Ifijl"), (0.35, "()-[]{}"), (0.4, "/\\rt"), (0.45, '"*?s'),
    (0.5, "cvxyz"), (0.55, "#$+0123456789<=>FJLXY^_aegk~"), (0.6, "AESTVZ`bdhnopqu"),
    (0.65, "BCKPR"), (0.7, "&DGNU"), (0.75, "HOQ"), (0.8, "Mw"), (0.9, "%W"), (0.95, "@m"),
) for letter in letters}
WORD = re.compile(r"\S+|\s+")

# A line of a text: per piece its width in mm, and whether it breaks between any two letters.
Line = list[tuple[float, bool]]


def length(text: str) -> float:
    """Length of the longest line of a text in mm."""
    return max(sum(map(_width, line)) for line in str(text).split("\n"))


def lines_of(text: str) -> list[Line]:
    """The lines that the text asks for itself, in words and runs of Chinese letters."""
    return [[(sum(map(_width, letters)), is_wide) for word in WORD.findall(line)
             for is_wide, letters in _runs(word)] for line in str(text).split("\n")]


def line_count(lines: list[Line], room: float) -> int:
    """How many lines they take where a line is `room` mm long; a longer word breaks."""
    return sum(_broken(line, room) for line in lines)


def _broken(line: Line, room: float) -> int:
    count, used = 1, 0.0
    for width, is_wide in line:
        used += width
        if used <= room:
            continue
        if not is_wide and width <= room:  # a word goes to the next line as a whole
            count, used = count + 1, width
            continue
        begins = used if is_wide or used == width else room + width
        more = ceil(begins / room) - 1
        count, used = count + more, begins - more * room
    return count


def _runs(word: str) -> list[tuple[bool, str]]:
    return [(is_wide, "".join(letters)) for is_wide, letters in groupby(word, _is_wide)]


def _width(letter: str) -> float:
    return EM if _is_wide(letter) else EM * SAFE * WIDTHS.get(letter, OTHER)


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"
