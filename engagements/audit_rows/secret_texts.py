"""The one rule for secrets in what people write: it is refused where it is given.

What stands in a row stands in the audit log, in answers of the API, documents, mails, bundles and
backups as well; nothing of it could be taken back there. What machines say (a log, an error) is
masked before it is stored, see `toolreaders.masking`. Columns that are to hold a secret are
encrypted and untracked.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from toolreaders.masking import ASSIGNMENT, mask_text

# What tools, nodes and browsers say, by table or in any. A text here is not refused.
OF_MACHINES = {
    "acceptance.signature": {"user_agent"}, "assessments.measurement": {"place"},
    "assessments.verdict": {"reason"}, "operation.damagedfile": {"cause", "name"},
    "workers.artifact": {"name"}, "workers.chainrun": {"message"},
    "workers.job": {"message", "technical_cause"}, "workers.jobinput": {"place"},
    "workers.storedreading": {"reader", "reader_version", "tool", "tool_version"}}
# Of JSON, what people write freely; the rest is made of other rows.
FREE_JSON = {
    "agreement.agreement": {"entered"}, "quotes.quote": {"payment_terms", "staffing", "conditions"},
    "reports.document": {"words"}, "surveys.answer": {"value"},
    "surveys.questionnairedraft": {"questions"}, "workers.jobtemplate": {"parameters"},
    "workers.node": {"scheduler_options", "command_roles"}}
NOTHING: frozenset[str] = frozenset()
# What stands behind "token:" or "password:" in people's sentences and is none: a quantity with its
# unit (首token:80ms, token=128k), a word, Chinese. A log is masked more strictly: it is not prose.
QUANTITY = re.compile(r"[-+~≤≥<>]?\d[\d.,]*[a-zA-Zµμ%/]{0,8}")
WORD = re.compile(r"[A-Za-z]{1,20}[.!?:]?")
NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def refuse_secrets(table: type[models.Model], values: dict[str, Any],
                   without: frozenset[str] = NOTHING, rows: models.QuerySet | None = None) -> None:
    """Raise InvalidInput where a text among these columns holds what looks like a password or key.

    Args:
        without: columns that are not tracked.
        rows: those written so far: what one of them holds already was not given now.
    """
    for name in _columns(table, without) & values.keys():
        for text in _texts(values[name]):
            if (shown := masked_secrets(text)) == text:
                continue
            if rows is not None and rows.filter(**{name: values[name]}).exists():
                continue
            raise InvalidInput(_(
                "“%(label)s” holds what looks like a password or key: “%(text)s”. It would be kept "
                "and shown. Say where it is to be found instead.") % {
                    "label": table._meta.get_field(name).verbose_name,
                    "text": _line_of_difference(text, shown)})


def masked_secrets(text: str) -> str:
    """The text with what looks like a password or key masked; the same where nothing does."""
    if (masked := mask_text(text)) == text:
        return text
    doubtful = ASSIGNMENT.sub(_without_prose, text)
    return text if mask_text(doubtful) == doubtful else masked


def _without_prose(found: re.Match[str]) -> str:
    """An assignment of a sentence without its value, so that nothing of it is masked."""
    value = found["value"].strip("\"'")
    is_option = "=" in found["sign"] or found["name"].startswith("--")
    is_prose = (QUANTITY.fullmatch(value) or NOT_ASCII.search(value)
                or (WORD.fullmatch(value) and not is_option))
    return found["name"] if is_prose else found[0]


@lru_cache(512)
def _columns(table: type[models.Model], without: frozenset[str]) -> frozenset[str]:
    label = table._meta.label_lower
    free = FREE_JSON.get(label, ())
    return frozenset(
        field.attname for field in table._meta.concrete_fields
        if (type(field) in (models.CharField, models.TextField, models.SlugField) or
            field.attname in free)
        and not field.choices) - without - OF_MACHINES.get(label, set())


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _texts(entry)


def _line_of_difference(text: str, shown: str) -> str:
    return next((masked for line, masked in zip(text.split("\n"), shown.split("\n"), strict=False)
                 if line != masked), shown).strip()[:200]
