"""How ready a migration is: a score out of 100 and what is missing for “go” (DOMAIN 2.2).

The weights are the firm's own; each entry names what it looks at and where it is made good.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count
from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.models import Baseline
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.consequences.rules import findings
from delivery.surveys.models import Survey
from engagements.text.text_joining import in_turn, labelled, listed
from toolreaders.verdicts.spread import FEWEST_RUNS
from workers.models import StoredReading
from workers.rules import BLOCK

ANALYSES = ("migration_analysis", "tf_conversion", "source_scan")


@dataclass(frozen=True)
class Entry:
    """One part of the readiness: `share` from 0 to 1 of its weight; blocking below 1 or not."""

    code: str
    label: str
    weight: int
    share: float
    sentence: str
    url: str
    is_blocking: bool = False

    @property
    def is_met(self) -> bool:
        return self.share >= 1

    @property
    def points(self) -> int:
        """Rounded down: what is not complete never counts in full."""
        return int(self.weight * self.share)


@dataclass(frozen=True)
class Readiness:
    entries: list[Entry]

    @cached_property
    def score(self) -> int:
        return sum(entry.points for entry in self.entries)

    @property
    def missing(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.is_met]

    @property
    def blocking(self) -> list[Entry]:
        return [entry for entry in self.missing if entry.is_blocking]


def readiness(sheet: Sheet) -> Readiness:
    """The entries over the answers and what is stored; a fixed number of queries."""
    given = CountedAnswers(sheet)
    return Readiness([part(sheet, given) for part in PARTS])


def _answers(sheet: Sheet, given: CountedAnswers) -> Entry:
    needed = [cell for cell in sheet.asked if cell.question.is_required]
    share = 1 - len(sheet.missing) / len(needed) if needed else 1
    return Entry("answers", _("Required answers"), 20, share, _(
        "%(n)d "
        "of %(of)d are answered.") % {"n": len(needed) - len(sheet.missing), "of": len(needed)},
                 _survey_url(sheet), is_blocking=True)


def _confirmed(sheet: Sheet, given: CountedAnswers) -> Entry:
    is_confirmed = sheet.survey.state == Survey.State.CONFIRMED
    return Entry("confirmed", _("Confirmation"), 10, float(is_confirmed), _(
        "The answers are confirmed.") if is_confirmed else _(
        "A consultant confirms the answers once they are submitted."), _survey_url(sheet), True)


def _models(sheet: Sheet, given: CountedAnswers) -> Entry:
    """Every model that is meant is registered, so that it is estimated and priced."""
    answered, there = given.whole("model_count"), len(given.models)
    is_met = answered == there
    return Entry("models", _("Number of models"), 5, float(is_met), _(
        "All models registered (%(n)d).") % {"n": there} if is_met else _(
        "The survey names %(said)s models, %(there)d are registered.") % {
            "said": "--" if answered is None else answered, "there": there},
                 reverse("engagements:engagement", args=[sheet.survey.engagement.code]))


def _analysis(sheet: Sheet, given: CountedAnswers) -> Entry:
    """Operator coverage: an API analysis or a source scan of each model that has code to move."""
    models = [m for m in given.models if given.value("framework", m) != "onnx"]
    found = set(StoredReading.objects.filter(
        kind__in=ANALYSES, artifact__model__in=models).values_list("artifact__model", flat=True))
    return _share(sheet, "analysis", _("Operator coverage"), 20, models,
                  [m for m in models if m.pk in found],
                  _("An API analysis or a source scan is read."),
                  f"{reverse('workers:scans')}?engagement={sheet.survey.engagement.code}", True)


def _libraries(sheet: Sheet, given: CountedAnswers) -> Entry:
    """Acceleration libraries named with their versions."""
    def is_versioned(model) -> bool:
        return all(any(c.isdigit() for c in entry) for entry in given.entries("libraries", model))

    known = [m for m in given.models if given.value("libraries", m) and is_versioned(m)]
    return _share(sheet, "libraries", _("Acceleration libraries"), 5, given.models, known,
                  _("Every library is named with its version."), _survey_url(sheet))


def _source_figures(sheet: Sheet, given: CountedAnswers) -> Entry:
    """Accuracy and performance of the source platform, over three runs or more (R-ACC-08)."""
    ready = [m for m in given.models if given.number("accuracy_value", m)
             and (given.number("throughput", m) or given.number("token_throughput", m))
             and (given.whole("repeats", m) or 0) >= FEWEST_RUNS]
    return _share(sheet, "stated", _("Stated baselines"), 10, given.models, ready, _(
        "Accuracy and performance are stated, over at least three runs."), _survey_url(sheet))


def _recorded(sheet: Sheet, given: CountedAnswers) -> Entry:
    """Baselines with their raw files."""
    counts = dict(Baseline.objects.filter(model__in=given.models).order_by().values_list(
        "model").annotate(Count("pk")))
    return _share(sheet, "recorded", _("Baselines with raw files"), 10, given.models,
                  [m for m in given.models if counts.get(m.pk)],
                  _("At least one baseline is recorded with its raw file."),
                  reverse("assessments:criteria", args=[sheet.survey.engagement.code]))


def _target(sheet: Sheet, given: CountedAnswers) -> Entry:
    is_there = given.value("procurement") in ("cloud_have", "local_have")
    share = (is_there + bool(given.text("access"))) / 2
    return Entry("target", _("Target platform"), 10, share, _(
        "The hardware is available and its access is described.") if share == 1 else _(
        "The hardware is still to be bought, or the access is not described."), _survey_url(sheet))


def _rules(sheet: Sheet, given: CountedAnswers) -> Entry:
    broken = {model.code: [hit.rule for hit in findings(given, model).of(BLOCK)]
              for model in given.models if given.value("framework", model)}
    named = in_turn(labelled(code, listed(rules)) for code, rules in broken.items() if rules)
    return Entry("rules", _("Blocking rules"), 10, float(not named), _(
        "The answers break %(rules)s.") % {"rules": named} if named else _(
        "The answers break no blocking rule."),
        reverse("surveys:consequences", args=[sheet.survey.engagement.code]) + "#findings", True)


PARTS: tuple[Callable[[Sheet, CountedAnswers], Entry], ...] = (
    _answers, _confirmed, _models, _analysis, _libraries, _source_figures, _recorded, _target,
    _rules)


def _share(sheet: Sheet, code: str, label: str, weight: int, models: list, ready: list,
           wanted: str, url: str, is_blocking: bool = False) -> Entry:
    """An entry that counts models; the sentence names those that are not ready."""
    lacking = [m.code for m in models if m not in ready]
    sentence = wanted if not lacking else _("Missing for %(models)s. Wanted: %(wanted)s") % {
        "models": listed(lacking), "wanted": wanted}
    return Entry(code, label, weight, len(ready) / len(models) if models else 1, sentence, url,
                 is_blocking)


def _survey_url(sheet: Sheet) -> str:
    return reverse("surveys:overview", args=[sheet.survey.engagement.code])
