"""Draft baselines: what the customer states of the source platform, waiting for its raw file."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.models import Baseline
from assessments.presentation.quantity_labels import quantity_label
from assessments.services.baselines import record_baseline
from delivery.surveys.consequences.base import KINDS, Item, Kind, register
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.models import Consequence, Survey
from engagements.models import MigratedModel, User
from engagements.text.text_joining import labelled
from toolreaders.number_parsing import whole_number
from toolreaders.verdicts.quantities import LOSS_CURVE, quantities
from toolreaders.verdicts.quantity_rows import BY_NAME
from workers.models import Artifact

if TYPE_CHECKING:
    from delivery.surveys.consequences.comparison import Row

CIRCUMSTANCES = ("hardware", "software", "data_set", "seeds", "origin", "source")
MEGABYTES = 1024  # per GB of device memory, as the readers count
# question, quantity, factor to the quantity's unit, for training or inference models only
FIGURES = (
    ("accuracy_value", "score", 1, ""), ("step_time", "iteration_time_ms", 1, "trains"),
    ("throughput", "samples_per_second", 1, "trains"),
    ("token_throughput", "tokens_per_second", 1, "trains"),
    ("throughput", "inference_throughput", 1, "infers"),
    ("token_throughput", "inference_throughput", 1, "infers"),
    ("peak_memory", "peak_memory_mb", MEGABYTES, ""), ("latency", "latency_ms", 1, "infers"),
    ("token_latency", "tpot_ms", 1, "infers"), ("first_token", "ttft_ms", 1, "infers"),
)
# Where the figure comes from is asked once for the accuracy and once for the performance.
SOURCE_OF = {"accuracy_value": "accuracy"}
ORIGINS = {"measured_customer": Baseline.Origin.MEASURED, "measured_us": Baseline.Origin.MEASURED,
           "published": Baseline.Origin.PUBLISHED}


@register
class DraftBaselines(Kind):
    code = "baseline"
    title = gettext_lazy("Draft baselines")
    explanation = gettext_lazy(
        "A stated figure is no evidence: it becomes a baseline with its raw file. A curve whose "
        "file is stored here is recorded at once.")

    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        for model in given.models:
            for question, quantity, factor, only in FIGURES:
                number = given.number(question, model)
                if number and _concerns(given, model, quantity, only):
                    about = SOURCE_OF.get(question, "performance")
                    yield Item(self.code, quantity, model, {
                        "value": f"{(number * factor).normalize():f}",
                        "unit": BY_NAME[quantity].unit,
                        **_circumstances(given, model), **_origin(given, model, about)},
                               (question, f"{about}_source", "gpu_type", "gpu_software"))
            if place := given.text("loss_curve", model):
                yield Item(self.code, LOSS_CURVE, model, {
                    "file": place, **_circumstances(given, model)},
                           ("loss_curve", "gpu_type", "gpu_software"))

    def label(self, key: str) -> str:
        return quantity_label(key)

    def show(self, key: str, value: dict[str, Any]) -> str:
        shown = value.get("file") or f"{value['value']} {value['unit']}".strip()
        published = value.get("origin") == Baseline.Origin.PUBLISHED
        return " · ".join(part for part in (
            shown, value.get("hardware"), _("published, not measured") if published else "")
            if part)

    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None) -> dict:
        """A baseline where the raw file is stored, else only the draft; each file once."""
        known = before.result if before else {}
        if known.get("baseline") and before.value.get("file") == item.value.get("file"):
            return known
        artifact = _artifact(survey, item)
        if artifact is None:
            return {}
        facts = {name: item.value.get(name, "") for name in ("hardware", "software", "seeds")}
        baseline = record_baseline(
            actor=actor, model=item.model, quantity=item.key, artifact=artifact,
            source=_("Survey"), data_set=item.value.get("data_set", ""), **facts)
        return {"baseline": baseline.pk}

    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        """The draft goes; a recorded baseline is evidence and stays."""


def _concerns(given: CountedAnswers, model: MigratedModel, quantity: str, only: str) -> bool:
    """Throughput is that of the training where a model trains, else that of the inference."""
    if quantity == "inference_throughput":
        return not given.trains(model)
    return not only or (given.trains if only == "trains" else given.infers)(model)


def _origin(given: CountedAnswers, model: MigratedModel, about: str) -> dict[str, str]:
    """Measured or published, and where it is published; {} where the survey does not ask."""
    origin = ORIGINS.get(given.value(f"{about}_source", model) or "")
    place = given.text(f"{about}_publication", model)[:160]
    return {name: str(text) for name, text in (("origin", origin), ("source", place)) if text}


def _circumstances(given: CountedAnswers, model: MigratedModel) -> dict[str, str]:
    seed = given.hyper(model).get("seed")
    found = {"hardware": given.text("gpu_type")[:240], "software": given.text("gpu_software")[:240],
             "data_set": given.text("dataset", model)[:240],
             "seeds": "" if seed is None else f"{Decimal(repr(seed)).normalize():f}"}
    return {name: text for name, text in found.items() if text}


def _artifact(survey: Survey, item: Item) -> Artifact | None:
    """The stored file that the answer names as `#12`, if it holds the quantity."""
    number = whole_number(str(item.value.get("file", "")).removeprefix("#"))
    artifact = Artifact.objects.filter(engagement=survey.engagement, pk=number).first()
    names = {q.name for reading in artifact.readings.all() for q in quantities(
        reading.kind, reading.values)} if artifact else set()
    return artifact if item.key in names else None


def draft_links(rows: Iterable["Row"], survey: Survey) -> list[dict]:
    """Drafts that were taken over: each with the baseline that came of it, or a prefilled form.

    `state` is pending without a raw file, submitted once it is recorded, and passed when both
    sides confirmed that baseline.
    """
    drafts = [row.applied for row in rows if row.kind == DraftBaselines.code and row.applied]
    recorded = _recorded(survey)
    place = reverse("assessments:baseline_new", args=[survey.engagement.code])
    return [_draft(applied, recorded.get((applied.model_id, applied.key)), place)
            for applied in drafts]


def _recorded(survey: Survey) -> dict[tuple[int, str], Baseline]:
    """The newest baseline of each model and quantity; one that both sides confirmed goes first."""
    found = Baseline.objects.filter(model__engagement=survey.engagement).order_by("pk")
    newest: dict[tuple[int, str], Baseline] = {}
    for baseline in sorted(found, key=lambda each: each.frozen_at is not None):
        newest[baseline.model_id, baseline.quantity.partition(":")[0]] = baseline
    return newest


def _draft(applied: Consequence, baseline: Baseline | None, place: str) -> dict:
    state = "pending" if baseline is None else "passed" if baseline.frozen_at else "submitted"
    url = (f"{place}?{_query(applied)}" if baseline is None
           else reverse("assessments:baseline", args=[baseline.pk]))
    return {"applied": applied, "label": row_label(applied), "state": state, "url": url}


def _query(applied: Consequence) -> str:
    """What is known, as the initial values of the form for a new baseline."""
    known = {name: applied.value[name] for name in CIRCUMSTANCES if name in applied.value}
    return urlencode({"model": applied.model_id, "quantity": applied.key, **known})


def row_label(applied: Consequence) -> str:
    """The draft in words of the active language."""
    kind = KINDS[DraftBaselines.code]
    return labelled(kind.label(applied.key), kind.show(applied.key, applied.value))
