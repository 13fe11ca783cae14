"""Scope and facts: which stages a model goes through, how large it is, when all must be done."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.surveys.consequences.base import Item, Kind, register
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.models import Consequence, Survey
from engagements import services
from engagements.models import User
from engagements.stages import EXTRA, OUT_OF_SCOPE, Scope, Stage
from engagements.text.text_joining import in_turn, listed


@register
class ScopeOfModel(Kind):
    code = "scope"
    title = gettext_lazy("Stages in scope")
    explanation = gettext_lazy("Stages out of a model's scope are skipped, with the reason logged.")

    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        for model in given.models:
            if (scope := given.value("model_scope", model)) in Scope.values:
                yield Item(self.code, "stages", model, {"scope": scope}, ("model_scope",))

    def label(self, key: str) -> str:
        return _("Scope")

    def show(self, key: str, value: dict[str, Any]) -> str:
        scope = Scope(value["scope"])
        skipped = [str(Stage(s).label) for s in Stage.values if s in OUT_OF_SCOPE[scope] - EXTRA]
        sentence = (_("skipped: %(stages)s") % {"stages": listed(skipped)} if skipped
                else _("no stage is skipped"))
        return in_turn([scope.label, sentence])

    def now(self, item: Item, survey: Survey) -> str:
        return str(Scope(item.model.scope).label)

    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None) -> dict:
        services.set_model_scope(actor=actor, model=item.model, scope=item.value["scope"],
                                 reason=_("Follows from the survey."))
        return {}

    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        """The scope stays: without an answer there is nothing to change it to."""


@register
class Facts(Kind):
    code = "fact"
    title = gettext_lazy("Details of engagement and models")

    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        if goals := given.codes("scope"):
            yield Item(self.code, "scope", None, {"scope": scope_of(goals)}, ("scope",))
        if deadline := given.day("deadline"):
            yield Item(self.code, "deadline", None, {"date": deadline.isoformat()}, ("deadline",))
        for model in given.models:
            if size := given.number("parameters", model):
                yield Item(self.code, "parameters", model, {"billion": f"{size:f}"},
                           ("parameters",))
            if framework := framework_of(given, model):
                yield Item(self.code, "framework", model, {"name": framework},
                           ("framework", "framework_version"))

    def label(self, key: str) -> str:
        return {"scope": _("Scope"), "deadline": _("End date"),
                "parameters": _("Parameters (billion)"), "framework": _("Framework")}[key]

    def show(self, key: str, value: dict[str, Any]) -> str:
        return str(Scope(value["scope"]).label if key == "scope" else next(iter(value.values())))

    def now(self, item: Item, survey: Survey) -> str:
        found = (survey.engagement.get_scope_display() if item.key == "scope" else
                 survey.engagement.ends_on if item.key == "deadline" else
                 item.model.parameters_billion if item.key == "parameters" else
                 item.model.framework)
        return "" if found is None else (
            f"{found.normalize():f}" if isinstance(found, Decimal) else str(found))

    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None) -> dict:
        if item.key == "scope":
            services.update_engagement(actor=actor, engagement=survey.engagement,
                                       scope=item.value["scope"])
        elif item.key == "deadline":
            services.update_engagement(actor=actor, engagement=survey.engagement,
                                       ends_on=date.fromisoformat(item.value["date"]))
        elif item.key == "parameters":
            services.update_model(actor=actor, model=item.model,
                                  parameters_billion=rounded(item.value["billion"]))
        else:
            services.update_model(actor=actor, model=item.model, framework=item.value["name"])
        return {}

    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        """Facts stay as they are: no answer is not another answer."""


def scope_of(goals: frozenset[str]) -> str:
    """The engagement's scope from what is to be migrated: training, finetuning, inference, full."""
    if goals == {"inference"}:
        return Scope.INFERENCE.value
    return Scope.TRAINING.value if goals <= {"training", "finetuning"} else Scope.FULL.value


NAMES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "mindspore": "MindSpore",
         "onnx": "ONNX"}


def framework_of(given: CountedAnswers, model) -> str:
    """Name and version of the framework; "" unless it is one of the known ones."""
    name = NAMES.get(given.value("framework", model) or "")
    return f"{name} {given.text('framework_version', model)}".strip()[:60] if name else ""


def rounded(billion: str) -> Decimal:
    """Parameters as a model stores them: millions in thousandths of a billion."""
    return Decimal(billion).quantize(Decimal("0.001"))
