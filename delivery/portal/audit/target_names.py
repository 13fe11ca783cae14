"""What codes in the stored name of an entry's object mean: kinds of jobs, metrics, quantities."""

import re

from assessments.definitions.standard_library import BY_CODE
from assessments.presentation.quantity_labels import quantity_label
from engagements.models import AuditEntry
from engagements.models.engagement import localized
from engagements.text.text_joining import listed
from workers.kinds.base import title_of

CODE = re.compile(r"(?<![\w.])[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)?(?![\w.])")
WITH_CODES = ("workers.job", "assessments.")  # types of objects that are named by codes


def target_meaning(entry: AuditEntry) -> str:
    """The labels of the codes in the stored name of an entry's object; "" where it has none."""
    if not entry.target_type.startswith(WITH_CODES):
        return ""
    labels = {code: _label(code) for code in CODE.findall(entry.target_label)}
    return listed(label for code, label in labels.items() if label != code)


def _label(code: str) -> str:
    """The label of a job kind, metric definition or quantity; any other word as it stands."""
    if definition := BY_CODE.get(code):
        return localized(*definition.name)
    title = title_of(code)
    return title if title != code else quantity_label(code)
