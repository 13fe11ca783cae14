"""Numbers as tools print them, and what damage leaves of one refused."""

NUMBER = (
    r"[-+]?(?:\d++\.?+\d*+(?:[eE][-+]?\d++)?+|\.\d++|nan|NaN|inf|Inf)"
    r"(?!\w|\.\d|[?\ufffd]|(?<=\.) \d)"
)
"""A whole number, for a pattern: “1.2e-”, “1.2.3”, “1. 25”, “1?5” and “1.2Epoch” hold none."""
AMOUNT = r"[\d.]++(?=(?:s|sec)?(?:[\s,;)\]}/]|$))"
"""A time or a rate without a sign, of which the unit s may follow at once."""
