"""Checks of the firm's and the customer's particulars."""

# GB 32100-2015: 17 characters, each weighted by a power of 3, and a check character modulo 31.
ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"
BODY_LENGTH = 17


def check_character(body: str) -> str:
    """The 18th character of a unified social credit code (GB 32100-2015)."""
    weighted = sum(ALPHABET.index(c) * pow(3, n, 31) for n, c in enumerate(body))
    return ALPHABET[-weighted % 31]


def is_credit_code(code: str) -> bool:
    """Whether a unified social credit code (统一社会信用代码) has the right form and check."""
    body, last = code[:BODY_LENGTH], code[BODY_LENGTH:]
    return (len(body) == BODY_LENGTH and len(last) == 1 and set(code) <= set(ALPHABET)
            and check_character(body) == last)
