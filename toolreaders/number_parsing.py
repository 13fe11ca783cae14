"""Numbers that people and tools write."""

MOST_DIGITS = 15  # fits a signed 64-bit column, and a double without loss


def whole_number(text: str | None, digits: int = MOST_DIGITS) -> int | None:
    """The number written in so many ASCII digits at most; None for any other text or none.

    `int` takes more (signs, blanks, underscores, other scripts' digits) and raises at a million
    digits; `str.isdigit` says yes to superscripts, at which `int` raises.
    """
    is_number = text and len(text) <= digits and text.isascii() and text.isdigit()
    return int(text) if is_number else None
