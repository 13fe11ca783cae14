"""What is wrong with a backup or what it should hold: a code with its facts.

A manifest keeps code and facts, so that it reads the same whoever wrote the backup; the sentence is
in the language of whom it is shown to.
"""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from engagements.audit.audit_log import Finding
from engagements.audit.problem_labels import LABELS

SENTENCES = {
    "unreadable": _("%(name)s: %(cause)s"),
    "other_hash": _("%(name)s: SHA-256 is %(found)s, its row says %(stated)s"),
    "audit_log": _("audit log: %(place)s, %(problem)s"),
    "audited_row": _("row %(table)s %(key)s: %(problem)s"),
    "other_part": _("%(name)s is not what the manifest says"),
    "file_count": _("files listed: %(found)d of %(stated)d"),
    "damaged_file": _("file %(digest)s is missing or damaged"),
    "row_count": _("rows of %(table)s: %(found)d of %(stated)d"),
    "came_out_differently": _("%(name)s: came out differently"),
}


class Fault:
    """`str` of it is the sentence."""

    def __init__(self, code: str, **facts: str | int) -> None:
        self.code, self.facts = code, facts

    def __str__(self) -> str:
        shown = dict(self.facts)
        if "problem" in shown:
            shown["problem"] = LABELS[shown["problem"]]
        return SENTENCES[self.code] % shown

    def as_json(self) -> dict[str, str | int]:
        return {"code": self.code, **self.facts}


def audit_log_faults(findings: Iterator[Finding]) -> list[Fault]:
    return [Fault("audit_log", place=found.place, problem=found.problem) for found in findings]
