"""Source and target environment of what was judged, item by item (DOMAIN 9.8, AR-05)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.labels.environments import WORDS, item_label
from assessments.models import Criterion, Verdict
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.run_records import Judged, run_settings
from delivery.reports.facts.survey_platform import platform_answers, versions_in
from delivery.surveys.answer_sheet import Sheet
from engagements.models import MigratedModel
from engagements.stages import Stage
from engagements.text.text_joining import bracketed
from workers.models import Job
from workers.runtimes import software

Setup = tuple[str, str]  # code of a model and stage in which it was measured
# Items that a run's own settings tell, by the names of the training jobs' options.
SETTINGS = {"seed": "seed", "dtype": "precision", "dataset": "data_path"}
# What a comparison is asked for (DOMAIN 9.8, 11.2): said even where neither side recorded it.
ASKED_FOR = ("chip", "cards", "driver", "firmware", "cann", "torch_npu", "dtype", "seed", "dataset")


@dataclass(frozen=True)
class Fact:
    """What is known of one item; `is_from_survey`: by the customer's answers in the survey,
    not by a baseline or a probe. False where nothing is known."""

    text: str = ""
    is_from_survey: bool = False
    words: Any = None  # the text in the language of the reader, where it is none of a record

    def __bool__(self) -> bool:
        return bool(self.text)


NOTHING = Fact()
CUSTOMERS = Fact("customer", words=gettext_lazy("the customer"))  # the node is marked as theirs
Sides = dict[Setup, tuple[dict[str, Fact], dict[str, Fact]]]  # (source, target)


def environments(sides: Sides) -> dict:
    """One table for all models: a row per item and pair of values, with the models that have it.

    A model is named with its stage where it was measured in several stages on different set-ups.

    Args:
        sides: see `sides_of`.
    """
    rows = [row for item in _items(sides) for row in _rows(item, sides)]
    return table(lambda: _("Environments: source and target"), [
        column(lambda: _("Environment item")), column(lambda: _("Models")),
        column(lambda: _("Source platform (GPU)")), column(lambda: _("Target platform (NPU)")),
        column(lambda: _("Same"))], rows, is_grouped=True,
                 is_dense=True, empty=lambda: _("No environment is recorded on either side."))


def environment_pairs(sides: Sides) -> Iterator[tuple[str, str, Fact, Fact]]:
    """Model code, item, what is known of it at the source and at the target."""
    for item in _items(sides):
        for (model, _stage), (before, after) in sides.items():
            yield model, item, before.get(item, NOTHING), after.get(item, NOTHING)


def unrecorded(sides: Sides) -> list[dict[str, str]]:
    """Items that a comparison is asked for and that no baseline or probe records everywhere."""
    lacking = {item for _model, item, before, after in environment_pairs(sides)
               if item in ASKED_FOR and (not after or not before or before.is_from_survey)}
    return [both(lambda i=item: item_label(i)) for item in ASKED_FOR if item in lacking]


def sides_of(judged: Judged, survey: Sheet | None) -> Sides:
    """What is known of (source, target) for each model and stage.

    What no baseline records of the source is taken from the survey, and stays marked as stated.
    """
    found: Sides = {}
    for criterion, verdict in judged:
        setup = criterion.model.code, criterion.stage
        if setup not in found:
            found[setup] = source_environment(survey, criterion.model), {}
        before, after = found[setup]
        before.update(_source(criterion))
        after.update(_target(verdict))
    return found


def source_environment(survey: Sheet | None, model: MigratedModel) -> dict[str, Fact]:
    """What the survey's answers state of the source platform."""
    return {item: Fact(text, is_from_survey=True)
            for item, text in platform_answers(survey, model).items()}


def _source(criterion: Criterion) -> dict[str, Fact]:
    baseline = criterion.baseline
    return _flat({"chip": baseline.hardware, "dataset": baseline.data_set, "seed": baseline.seeds,
                  **versions_in(baseline.software), **(baseline.environment or {})}
                 ) if baseline else {}


def _target(verdict: Verdict | None) -> dict[str, Fact]:
    job: Job | None = verdict.measurement.job if verdict and verdict.measurement else None
    if not (job and job.node):
        return {}
    chips = sorted({card.chip_name for card in job.node.cards.all() if card.chip_name})
    settings = run_settings(job)
    given = {item: settings[name] for item, name in SETTINGS.items() if name in settings}
    found = _flat({"chip": ", ".join(chips), "cards": job.cards_wanted or "",
                   **software.of_job(job), **given})
    return {**found, "platform": CUSTOMERS} if job.node.is_customers else found


def _flat(facts: dict) -> dict[str, Fact]:
    return {str(key).strip().lower(): Fact(_text(value)) for key, value in (facts or {}).items()
            if value not in (None, "", [], {})}


def _text(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in sorted(value.items()))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _items(sides: Sides) -> list[str]:
    known = {key for pair in sides.values() for side in pair for key in side}
    asked = known.union(ASKED_FOR) if known else known
    return [key for key in WORDS if key in asked] + sorted(known - set(WORDS))


def _rows(item: str, sides: Sides) -> list[list]:
    values: dict[tuple[Fact, Fact], list[Setup]] = {}
    for setup, (before, after) in sides.items():
        values.setdefault((before.get(item, NOTHING), after.get(item, NOTHING)), []).append(setup)
    return [[both(lambda: item_label(item)), both(lambda s=setups: _names(s, list(sides))),
             _shown(before), _shown(after), both(lambda b=before, a=after: _verdict(b, a))]
            for (before, after), setups in values.items()]


def _names(some: list[Setup], among: list[Setup]) -> str:
    """The models of the set-ups, or those that are left out where these are fewer."""
    rest = [setup for setup in among if setup not in some]
    if not rest:
        return _("all")
    if len(rest) < len(some):
        return _("all but %(codes)s") % {"codes": _listed(rest, among)}
    return _listed(some, among)


def _listed(some: list[Setup], among: list[Setup]) -> str:
    split = {code for code, stage in among if (code, stage) not in some}
    return ", ".join(dict.fromkeys(
        f"{code}{bracketed(Stage(stage).label)}" if code in split else code
        for code, stage in some))


def _shown(fact: Fact) -> str | dict[str, str]:
    if fact.is_from_survey:
        return both(lambda: _("%(value)s (stated in the survey)") % {"value": fact.text})
    if fact.words:
        return both(lambda: str(fact.words))
    return fact.text or both(lambda: _("not recorded"))


def _verdict(before: Fact, after: Fact) -> str:
    if not (before and after):
        return "–"
    return _("yes") if before.text == after.text else _("differs")
