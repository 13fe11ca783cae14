"""What the definition of a curve presupposes, and what on record proves it.

A definition asks for the same data order, seed and initial weights on both sides. A verdict does
not prove them; the configuration check of msprobe and the settings of both runs may.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.accuracy.readings import config_check_of, newest_config_check
from assessments.models import Criterion, Verdict
from assessments.presentation.verdict_rows import rates_text
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.environments import (
    NOTHING,
    Fact,
    Sides,
    recorded_source,
    recorded_target,
    sizes_in,
)
from delivery.reports.facts.source import Source
from toolreaders.verdicts.difference_sentences import METHODS
from workers.models import StoredReading

Text = Callable[[], str]
PROVEN, DIFFERS, OPEN, NAMED = "proven", "differs", "open", "named"
"""What is named says how the figure came about: nothing has to be proven of it, nothing counts."""
SETTINGS: dict[str, Text] = {  # of both runs, each by its own record
    "seed": lambda: _("Same random seed"),
    "dtype": lambda: _("Same data type"),
    "parallel": lambda: _("Same parallel sizes"),
}
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
    stated, _after = sides.get((code, criterion.stage), ({}, {}))
    before, after = {**stated, **recorded_source(criterion)}, recorded_target(verdict)
    yield from _of_records(code, verdict.facts)
    for item, asked in SETTINGS.items():
        yield _setting(code, item, asked, before.get(item, NOTHING), after.get(item, NOTHING))
    run = verdict.measurement
    reading = config_check_of(run, criterion.baseline) if run else None
    other = None if reading else newest_config_check(criterion.model)
    for sheet, asked in SHEETS.items():
        yield Condition(code, asked, *_of_sheet(sheet, reading, other))


def _of_records(code: str, facts: dict) -> Iterator[Condition]:
    """By what the records of both logs were brought together, and whether both runs trained with
    the learning rates of each other; older verdicts do not know it."""
    if not facts.get("common_points") or "alignment" not in facts:
        return
    rates = facts["learning_rates"]
    yield Condition(code, lambda: _("Records aligned by"),
                    lambda: _(METHODS[facts["alignment"]]), NAMED)
    yield Condition(code, lambda: _("Learning rates"), lambda: rates_text(rates),
                    DIFFERS if rates and rates["differ"] else NAMED)


def _setting(code: str, item: str, asked: Text, before: Fact, after: Fact) -> Condition:
    if not (before and after):
        return Condition(code, asked, lambda: _("source: %(before)s; target: %(after)s") % {
            "before": before.text or _("not recorded"),
            "after": after.text or _("not recorded")}, OPEN)
    values = {"before": before.text, "after": after.text}
    if not _alike(item, before.text, after.text):
        return Condition(code, asked, lambda: _("source: %(before)s; target: %(after)s") % values,
                         DIFFERS)
    if before.is_from_survey:
        return Condition(code, asked, lambda: _(
            "%(after)s in the run's settings; the survey states the same for the source, but no "
            "file proves it") % values, OPEN)
    return Condition(code, asked, lambda: _(
        "%(after)s, recorded with the baseline and in the settings of the run") % values, PROVEN)


def _alike(item: str, before: str, after: str) -> bool:
    """Parallel sizes that are not named are 1; how many data-parallel ranks follow from the cards
    may be left out on either side."""
    if item != "parallel":
        return before == after
    there, here = sizes_in(before), sizes_in(after)
    if not (there and here):
        return before == after
    return all(there.get(label, 1) == here.get(label, 1) for label in there.keys() | here.keys()
               if label != "DP" or label in there.keys() & here.keys())


def _of_sheet(sheet: str, reading: StoredReading | None, other: StoredReading | None
              ) -> tuple[Text, str]:
    """What one sheet of the newest configuration check of the judged run says.

    Args:
        other: the newest check of the model, where none is of the judged run.
    """
    if other:
        return (lambda: _(
            "%(file)s compares packs that are not known to be those of the baseline and of the "
            "judged run") % {"file": f"E{other.artifact_id}"}), OPEN
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
    PROVEN: lambda: _("shown"), DIFFERS: lambda: _("differs"), OPEN: lambda: _("not proven"),
    NAMED: lambda: "–"}


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
    states = [entry.state for entry in found if entry.state != NAMED]
    return {"all": len(states), PROVEN: states.count(PROVEN), DIFFERS: states.count(DIFFERS)}
