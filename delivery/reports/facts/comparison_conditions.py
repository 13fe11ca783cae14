"""What the definition of a curve presupposes, and what on record proves it.

A definition asks for the same data order, seed and initial weights on both sides. A verdict does
not prove them; the configuration check of msprobe and the settings of both runs may.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.accuracy.readings import newest_config_check
from assessments.models import Criterion, Verdict
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.environments import NOTHING, Fact, Sides
from delivery.reports.facts.source import Source
from workers.models import StoredReading

Text = Callable[[], str]
PROVEN, DIFFERS, OPEN = "proven", "differs", "open"
SHEETS: dict[str, Text] = {  # of msprobe config_check, beside `random`, which holds no seeds
    "dataset": lambda: _("Same data in the same order"),
    "weights": lambda: _("Same initial weights"),
    "hyperparameters": lambda: _("Same hyper-parameters"),
    "random": lambda: _("Same calls of random functions"),
}


@dataclass(frozen=True)
class Condition:
    """One condition of one model: what is asked, what the record says, and what follows."""

    model: str
    asked: Text
    record: Text
    state: str


def conditions(source: Source, sides: Sides) -> list[Condition]:
    """The conditions of every verdict on a curve."""
    return [condition for criterion, verdict in source.judged
            if criterion.definition.quantity == "loss_curve" and verdict
            for condition in _of(criterion, verdict, sides)]


def _of(criterion: Criterion, verdict: Verdict, sides: Sides) -> Iterator[Condition]:
    code = criterion.model.code
    before, after = sides.get((code, criterion.stage), ({}, {}))
    yield _seed(code, before.get("seed", NOTHING), after.get("seed", NOTHING))
    reading = newest_config_check(criterion.model)
    for sheet, asked in SHEETS.items():
        yield Condition(code, asked, *_of_sheet(sheet, reading))


def _seed(code: str, before: Fact, after: Fact) -> Condition:
    def asked() -> str:
        return _("Same random seed")

    if not (before and after):
        return Condition(code, asked, lambda: _("source: %(before)s; target: %(after)s") % {
            "before": before.text or _("not recorded"),
            "after": after.text or _("not recorded")}, OPEN)
    values = {"before": before.text, "after": after.text}
    if before.text != after.text:
        return Condition(code, asked, lambda: _("source: %(before)s; target: %(after)s") % values,
                         DIFFERS)
    if before.is_from_survey:
        return Condition(code, asked, lambda: _(
            "%(after)s in the run's settings; the survey states the same for the source, but no "
            "file proves it") % values, OPEN)
    return Condition(code, asked, lambda: _(
        "%(after)s, recorded with the baseline and in the settings of the run") % values, PROVEN)


def _of_sheet(sheet: str, reading: StoredReading | None) -> tuple[Text, str]:
    """What one sheet of the newest configuration check says."""
    found = (reading.values.get("sheets") or {}).get(sheet) if reading else None
    if not found:
        return (lambda: _("no configuration check of both runs compares it")), OPEN
    values = {"rows": found["rows"], "different": found["different"],
              "file": f"E{reading.artifact_id}"}
    if found["different"]:
        return (lambda: _("%(file)s: %(different)d of %(rows)d entries differ") % values), DIFFERS
    if sheet == "hyperparameters":  # the tool lists differences only
        return (lambda: _("%(file)s: compared, no difference is listed") % values), PROVEN
    if not found["rows"]:
        return (lambda: _("%(file)s: the sheet is empty, nothing was compared") % values), OPEN
    return (lambda: ngettext("%(file)s: %(rows)d entry compared, none differs",
                             "%(file)s: %(rows)d entries compared, none differs",
                             found["rows"]) % values), PROVEN


RESULTS: dict[str, Text] = {
    PROVEN: lambda: _("shown"), DIFFERS: lambda: _("differs"), OPEN: lambda: _("not proven")}


def conditions_table(found: list[Condition]) -> dict:
    """A row per model and condition."""
    return table(lambda: _("Conditions of the compared curves and what proves them"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Condition")),
        column(lambda: _("What the record says")), column(lambda: _("Result"))],
        [[entry.model, both(entry.asked), both(entry.record), both(RESULTS[entry.state])]
         for entry in found], is_grouped=True, is_dense=True,
        empty=lambda: _("No verdict is based on a curve."))


def condition_count(found: list[Condition]) -> dict[str, int]:
    """How many conditions there are, are shown to hold, and are shown to differ."""
    states = [entry.state for entry in found]
    return {"all": len(states), PROVEN: states.count(PROVEN), DIFFERS: states.count(DIFFERS)}
