"""What follows now against what was taken over: new, changed, the same, or no longer so."""

from dataclasses import dataclass

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences.base import KINDS, Item, digest
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.models import Consequence
from engagements.models import MigratedModel

NEW, CHANGED, APPLIED, GONE = "new", "changed", "applied", "gone"


@dataclass(frozen=True)
class Row:
    """One consequence: the item that follows now, what was taken over before, or both."""

    item: Item | None
    applied: Consequence | None
    sheet: Sheet

    @property
    def code(self) -> str:
        return self.item.code if self.item else self.applied.code

    @property
    def kind(self) -> str:
        return self.item.kind if self.item else self.applied.kind

    @property
    def key(self) -> str:
        return self.item.key if self.item else self.applied.key

    @property
    def model(self) -> MigratedModel | None:
        return self.item.model if self.item else self.applied.model

    @property
    def status(self) -> str:
        """new, changed, applied or gone."""
        if self.item is None:
            return GONE
        if self.applied is None:
            return NEW
        return APPLIED if self.applied.value == self.item.value else CHANGED

    @property
    def is_open(self) -> bool:
        return self.status != APPLIED

    @property
    def token(self) -> str:
        """The code with what was shown: what is applied must still be that."""
        return f"{self.code}|{digest([self.status, self.item and self.item.value])}"

    @property
    def label(self) -> str:
        return KINDS[self.kind].label(self.key)

    @property
    def before(self) -> str:
        """What was taken over, or what stands in the engagement without that."""
        if self.applied:
            return KINDS[self.kind].show(self.key, self.applied.value)
        return KINDS[self.kind].now(self.item, self.sheet.survey)

    @property
    def after(self) -> str:
        return KINDS[self.kind].show(self.key, self.item.value) if self.item else ""

    @property
    def because(self) -> list[str]:
        """The questions it follows from, as number and label."""
        known = self.sheet.by_key
        found = [known[key] for key in (self.item.because if self.item else ()) if key in known]
        return [f"{question.part_number} · {question.localized_label}" for question in found]


def compare(sheet: Sheet) -> list[Row]:
    """All rows in the order of the kinds; a fixed number of queries."""
    given = CountedAnswers(sheet)
    taken = {row.code: row for row in sheet.survey.consequences.select_related(
        "model", "applied_by") if row.kind in KINDS}
    rows = [Row(item, taken.pop(item.code, None), sheet)
            for kind in KINDS.values() for item in kind.follow(given)]
    rows += [Row(None, applied, sheet) for applied in taken.values()]
    order = list(KINDS)
    return sorted(rows, key=lambda row: order.index(row.kind))
