"""Standard texts of the passages that documents print (DOMAIN 9.5 to 9.9, 10).

Shipped in `standard_texts`; what the firm changed is stored and goes before. A document keeps
its own copy, so that changing a standard text changes no document.
"""

from collections.abc import Collection, Iterable

from django.db.models import F, Q

from delivery.reports.models import StandardText
from delivery.reports.registry import DocumentKind
from delivery.reports.route_texts import route_passage
from delivery.reports.standard_text_library import STANDARD
from engagements.models import Customer, MigratedModel


def standard_words(kind: DocumentKind, customer: Customer | None = None,
                   models: Iterable[MigratedModel] = ()) -> dict[str, dict[str, str]]:
    """{code: {"zh", "en"}} of the kind's passages, as a new draft for the customer starts.

    Args:
        models: of the engagement, by whose routes some passages go; the firm's own texts go first.
    """
    codes = [block.code for block in kind.blocks]
    entries = StandardText.objects.filter(
        Q(customer=None) | Q(customer=customer), code__in=codes).order_by(
            F("customer").asc(nulls_first=True))  # the customer's own stand last and win
    own = {entry.code: {"zh": entry.zh, "en": entry.en} for entry in entries}
    return {code: own.get(code) or route_passage(code, models) or shipped(code) for code in codes}


TextInForce = tuple[StandardText | None, dict[str, str]]


def text_for(code: str, customer: Customer | None) -> TextInForce:
    """What is set for the customer (None: for all), and the text in force."""
    return texts_for([code], customer)[code]


def texts_for(codes: Collection[str], customer: Customer | None) -> dict[str, TextInForce]:
    """The same of many texts, by code; one query for all."""
    rows = {(row.code, row.customer_id): row for row in StandardText.objects.filter(
        Q(customer=None) | Q(customer=customer), code__in=codes)}
    found = {}
    for code in codes:
        own = rows.get((code, customer and customer.pk))
        wider = own or rows.get((code, None))
        found[code] = (own, {"zh": wider.zh, "en": wider.en} if wider else shipped(code))
    return found


def shipped(code: str) -> dict[str, str]:
    """The text that came with the program; empty where a person must judge."""
    chinese, english = STANDARD.get(code, ("", ""))
    return {"zh": chinese, "en": english}
