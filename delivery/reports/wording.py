"""Standard texts of the passages that documents print (DOMAIN 9.5 to 9.9, 10).

Shipped in `standard_texts`; what the firm changed is stored and goes before. A document keeps
its own copy, so that changing a standard text changes no document.
"""

from delivery.reports.models import Wording
from delivery.reports.registry import DocumentKind
from delivery.reports.standard_texts import STANDARD


def standard_words(kind: DocumentKind) -> dict[str, dict[str, str]]:
    """{code: {"zh", "en"}} of the kind's passages, as a new draft starts with them."""
    codes = [block.code for block in kind.blocks]
    own = {entry.code: {"zh": entry.zh, "en": entry.en}
           for entry in Wording.objects.filter(code__in=codes)}
    return {code: own.get(code) or shipped(code) for code in codes}


def shipped(code: str) -> dict[str, str]:
    """The text that came with the program; empty where a person must judge."""
    chinese, english = STANDARD.get(code, ("", ""))
    return {"zh": chinese, "en": english}
