"""Job defaults: what the forms of a model's jobs open with."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.surveys.consequences.base import Item, Kind, register
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.models import Consequence, Survey
from engagements.models import MigratedModel, User
from engagements.stages import Stage
from engagements.text.text_joining import listed
from workers import kinds
from workers.jobs.form_defaults import Values, register_defaults
from workers.kinds import JobKind

TRAINING, CODE = "training", "code"
# Which job kinds a group of defaults is for: by stage, or by code.
STAGES = {TRAINING: {Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE}, CODE: {Stage.SURVEY, Stage.TRAIN_ADAPT}}
LABELS_OF = {TRAINING: "adapt.megatron_train", CODE: "survey.pt_analyse"}
ATC_FRAMEWORK = {"onnx": "5", "savedmodel": "3"}
LITE_FRAMEWORK = {"onnx": "ONNX", "savedmodel": "TF", "torchscript": "PYTORCH"}
HYPER = ("learning_rate", "lr_schedule", "warmup", "warmup_unit", "optimiser", "betas", "clip_grad",
         "weight_decay", "seed", "micro_batch", "hyper")
# The answer's code → the value of Megatron's argument.
SCHEDULES = {"constant": "constant", "linear": "linear", "cosine": "cosine",
             "inverse_sqrt": "inverse-square-root"}
OPTIMISERS = {"adamw": "adam", "adam": "adam", "sgd": "sgd"}
PRECISIONS = {"bf16": "bf16", "fp16": "fp16", "fp32": "fp32"}


@register
class JobDefaults(Kind):
    code = "defaults"
    title = gettext_lazy("Job defaults")
    explanation = gettext_lazy("The model's job forms are pre-filled with these values.")

    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        for model in given.models:
            for key, values, because in _groups(given, model):
                known = {name: value for name, value in values.items() if value is not None}
                if known:
                    yield Item(self.code, key, model, known, because)

    def label(self, key: str) -> str:
        return {TRAINING: _("Training jobs"), CODE: _("Analysis and transplant of the code")}.get(
            key) or str(kinds.get(key).title)

    def show(self, key: str, value: dict[str, Any]) -> str:
        known = {p.name: p for p in kinds.get(LABELS_OF.get(key, key)).parameters}
        return listed(f"{known[name].label} = {known[name].shown(entry)}" if name in known
                         else f"{name} = {entry}" for name, entry in value.items())

    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None) -> dict:
        return {}

    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        """The row is all there is; forms open with the kinds' own values again."""


def _groups(given: CountedAnswers, model: MigratedModel) -> Iterator[tuple[str, dict, tuple[str,
                                                                                            ...]]]:
    if given.trains(model):
        yield TRAINING, _training(given, model), (
            "parallel", "train_cards", "train_nodes", "global_batch", "sequence", "precision",
            *HYPER)
        if given.value("framework", model) == "pytorch":
            yield CODE, {"torch_version": given.text("framework_version", model) or None}, (
                "framework_version",)
    if given.infers(model):
        chosen = given.value("model_format", model)
        for kind, names in (("inf.atc", ATC_FRAMEWORK), ("inf.mslite", LITE_FRAMEWORK)):
            yield kind, {"framework": names.get(chosen)}, ("model_format",)


def _training(given: CountedAnswers, model: MigratedModel) -> dict[str, Any]:
    """Parameters of training jobs; `cards` are those of one node, as the jobs take them."""
    cards, nodes = given.whole("train_cards", model), given.whole("train_nodes", model)
    parallel, hyper = given.parallel(model), given.hyper(model)
    whole = {name: int(hyper[name]) for name in ("seed", "micro_batch_size") if name in hyper}
    return {
        "cards": cards // nodes if cards and nodes and cards % nodes == 0 else None,
        "nodes": nodes, "tensor_parallel": parallel.get("tp"),
        "pipeline_parallel": parallel.get("pp"), "context_parallel": parallel.get("cp"),
        "expert_parallel": parallel.get("ep"),
        "global_batch_size": given.whole("global_batch", model),
        "seq_length": given.whole("sequence", model),
        "precision": PRECISIONS.get(given.value("precision", model) or ""), **whole,
        **{name: hyper.get(name) for name in ("learning_rate", "clip_grad", "weight_decay")},
        **_optimisation(given, model)}


def _optimisation(given: CountedAnswers, model: MigratedModel) -> dict[str, Any]:
    """Warm-up, schedule, optimiser and betas: what the training kind has a parameter for."""
    unit, warmup = given.value("warmup_unit", model), given.number("warmup", model)
    fraction = float(warmup / 100) if warmup is not None and unit == "percent" else None
    betas = given.betas(model)
    found = {
        "warmup_fraction": fraction,
        "warmup_iters": int(warmup) if warmup is not None and unit == "steps" else None,
        "lr_decay_style": SCHEDULES.get(given.value("lr_schedule", model) or ""),
        "optimizer": OPTIMISERS.get(given.value("optimiser", model) or ""),
        "adam_beta1": betas[0] if len(betas) == 2 else None,
        "adam_beta2": betas[1] if len(betas) == 2 else None}
    known = {parameter.name for parameter in kinds.get(LABELS_OF[TRAINING]).parameters}
    return {name: value for name, value in found.items() if name in known}


@register_defaults("survey")
def from_survey(models: Collection[MigratedModel]) -> Values:
    """What was taken over from the survey for jobs of a kind, the special over the general."""
    rows: dict[int, dict[str, dict]] = {model.pk: {} for model in models}
    for row in Consequence.objects.filter(model__in=rows, kind=JobDefaults.code):
        rows[row.model_id][row.key] = row.value

    def values(kind: JobKind, model: MigratedModel) -> Mapping[str, Any]:
        known = rows[model.pk]
        general = {name: value for key, found in known.items()
                   if key in STAGES and STAGES[key] & set(kind.stages)
                   for name, value in found.items()}
        return {**general, **known.get(kind.code, {})}

    return values
