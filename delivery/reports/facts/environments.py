"""Source and target environment of what was judged, item by item (DOMAIN 9.8, AR-05)."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from assessments.labels.environments import WORDS, item_label
from assessments.models import Criterion, Verdict
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.run_records import Judged
from engagements.stages import Stage
from engagements.text.text_joining import bracketed
from workers.models import Job

Setup = tuple[str, str]  # code of a model and stage in which it was measured
Sides = dict[Setup, tuple[dict, dict]]  # what is recorded of (source, target)
# What a comparison is asked for (DOMAIN 9.8, 11.2): said even where neither side recorded it.
ASKED_FOR = ("chip", "cards", "driver", "firmware", "cann", "torch_npu", "dtype", "seed", "dataset")


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
                 empty=lambda: _("No environment is recorded on either side."))


def environment_pairs(sides: Sides) -> Iterator[tuple[str, str, str, str]]:
    """Model code, item, value at the source, value at the target ("" where not recorded)."""
    for item in _items(sides):
        for (model, _stage), (before, after) in sides.items():
            yield model, item, before.get(item, ""), after.get(item, "")


def sides_of(judged: Judged) -> Sides:
    """What is recorded of (source, target) for each model and stage."""
    found: Sides = {}
    for criterion, verdict in judged:
        before, after = found.setdefault((criterion.model.code, criterion.stage), ({}, {}))
        before.update(_source(criterion))
        after.update(_target(verdict))
    return found


def _source(criterion: Criterion) -> dict[str, str]:
    baseline = criterion.baseline
    return _flat({"dataset": baseline.data_set, "seed": baseline.seeds,
                  **(baseline.environment or {})}) if baseline else {}


def _target(verdict: Verdict | None) -> dict[str, str]:
    job: Job | None = verdict.measurement.job if verdict and verdict.measurement else None
    if not (job and job.node):
        return {}
    chips = sorted({card.chip_name for card in job.node.cards.all() if card.chip_name})
    return _flat({"chip": ", ".join(chips), "cards": job.cards_wanted or "", **job.node.software})


def _flat(facts: dict) -> dict[str, str]:
    return {str(key).strip().lower(): _text(value) for key, value in (facts or {}).items()
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
    values: dict[tuple[str, str], list[Setup]] = {}
    for setup, (before, after) in sides.items():
        values.setdefault((before.get(item, ""), after.get(item, "")), []).append(setup)
    return [[both(lambda: item_label(item)), both(lambda s=setups: _names(s, list(sides))),
             _shown(before), _shown(after), both(lambda b=before, a=after: _verdict(b, a))]
            for (before, after), setups in values.items()]


def _names(some: list[Setup], every: list[Setup]) -> str:
    """The models of the set-ups, or those that are left out where these are fewer."""
    rest = [setup for setup in every if setup not in some]
    if not rest:
        return _("all")
    if len(rest) < len(some):
        return _("all but %(codes)s") % {"codes": _listed(rest, every)}
    return _listed(some, every)


def _listed(some: list[Setup], every: list[Setup]) -> str:
    split = {code for code, stage in every if (code, stage) not in some}
    return ", ".join(dict.fromkeys(
        f"{code}{bracketed(Stage(stage).label)}" if code in split else code
        for code, stage in some))


def _shown(value: str) -> str | dict[str, str]:
    return value or both(lambda: _("not recorded"))


def _verdict(before: str, after: str) -> str:
    if not (before and after):
        return "–"
    return _("yes") if before == after else _("differs")
