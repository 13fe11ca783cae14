"""The risk list: what the answers make a risk of (DOMAIN 2.2, 7 no. 46)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.documents.bilingual import both
from delivery.planning.models import Risk
from delivery.planning.services.control import add_risk, update_risk
from delivery.surveys.consequences.base import Item, Kind, register
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.models import Consequence, Survey
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel, Role, User
from engagements.text.text_joining import bracketed, in_turn, listed
from toolreaders.verdicts.spread import FEWEST_RUNS

REVIEW_AFTER = timedelta(days=14)


@dataclass(frozen=True)
class Rule:
    """An answer that is a risk: how likely and how bad from 1 to 5, and what is done about it."""

    question: str
    answers: frozenset[str]
    probability: int
    impact: int
    title: Any
    response: Any
    is_per_model: bool = True


def _rule(question: str, answers: str, levels: str, title, response, is_per_model=True) -> Rule:
    probability, _by, impact = levels.partition("×")
    return Rule(question, frozenset(answers.split()), int(probability), int(impact), title,
                response, is_per_model)


RULES: dict[str, Rule] = {
    "custom_ops": _rule("custom_ops", "yes", "4×4", _("Custom CUDA operators need a counterpart"),
                        _("List them, and decide for each: replace, develop, run on the CPU.")),
    "own_code": _rule("code_origin", "own modified", "3×3",
                      _("Code is not from an authoritative repository"),
                      _("Compare with the origin; reproduce on the source platform first.")),
    "dynamic_shape": _rule("dynamic_shape", "yes", "3×3", _("Dynamic shapes"),
                           _("Agree on fixed shapes or shape steps before the conversion.")),
    "special_apis": _rule("special_apis", "jit_script channels_last amp_c apex", "4×3",
                          _("APIs that automatic migration does not support"),
                          _("Plan the tool migration, or rewrite these places.")),
    "half_precision": _rule("precision", "fp16 mixed", "3×3", _("Overflow in half precision"),
                            _("Check the loss scaling and the sensitive operators.")),
    "quantisation": _rule("quantisation", "w8a8 w8a16 kv_int8 sparse", "3×3",
                          _("Loss of accuracy by quantisation"),
                          _("Agree on the acceptable loss and on a route back.")),
    "dvpp": _rule("dvpp", "yes", "2×3", _("Parameters of DVPP, AIPP and model do not fit"),
                  _("Check the pipeline with a single image before any tuning.")),
    "published_accuracy": _rule("accuracy_source", "published", "3×4",
                                _("The accuracy baseline is published, not measured"),
                                _("Reproduce it on the source platform before signing criteria.")),
    "published_performance": _rule(
        "performance_source", "published", "3×4",
        _("The performance baseline is published, not measured"),
        _("Measure it on the source platform before signing criteria.")),
    "raw_data": _rule("cleaning_done", "none", "2×3", _("The training data was not cleaned"),
                      _("Check for duplicates, language and leakage of the test set before curves "
                        "are compared.")),
    "packages": _rule("network", "intranet proxy", "3×2", _("Packages cannot be fetched directly"),
                      _("Ask for a mirror, or bring the packages along."), is_per_model=False),
    "mindie_image": _rule("mindie_image", "to_apply applied", "3×3",
                          _("The MindIE image is not approved yet"),
                          _("Apply for it in time: without it the inference environment cannot "
                            "be set up."), is_per_model=False),
    "apex": _rule("mixed_way", "apex_o1 apex_o2", "2×3", _("Mixed precision by APEX"),
                  _("Install the Ascend build of APEX, or change to native AMP; compare the "
                    "curves again.")),
    "hardware": _rule("procurement", "cloud_buy local_buy", "3×4",
                      _("The target hardware is not available yet"),
                      _("Agree on a date and on a place to work until then."), is_per_model=False),
    **{code: _rule("risks", code, "3×3", title, _("Known to the customer: agree on an owner."),
                   is_per_model=False) for code, title in (
        ("version", _("Versions of model and software")), ("dependency", _("Dependencies")),
        ("data", _("Data set")), ("framework", _("Framework")),
        ("metrics", _("Targets of accuracy or performance")), ("network", _("Network")),
        ("time", _("Time for the migration")), ("staff", _("Staff for the migration")))},
}
TOO_FEW_RUNS = "few_runs"
FEW_RUNS = Rule("repeats", frozenset(), 4, 4, _("The baseline is not shown to be repeatable"),
                _("Run the reference at least three times (R-ACC-08)."))


@register
class RiskList(Kind):
    code = "risk"
    title = _("Risk list")
    explanation = _("Each becomes a numbered risk of the project, with the project "
                               "manager as its owner.")

    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        for key, rule in RULES.items():
            if not rule.is_per_model:
                if given.chosen(rule.question) & rule.answers:
                    yield self._item(key, rule, [])
            elif models := [m.code for m in given.models
                            if given.chosen(rule.question, m) & rule.answers]:
                yield self._item(key, rule, models)
        if models := [m.code for m in given.models if _runs(given, m) < FEWEST_RUNS]:
            yield self._item(TOO_FEW_RUNS, FEW_RUNS, models)

    def _item(self, key: str, rule: Rule, models: list[str]) -> Item:
        return Item(self.code, key, None, {
            "probability": rule.probability, "impact": rule.impact, "models": models},
                    (rule.question,))

    def label(self, key: str) -> str:
        return str(_rule_of(key).title)

    def show(self, key: str, value: dict[str, Any]) -> str:
        score = value["probability"] * value["impact"]
        level = _("probability %(p)d × impact %(i)d = %(score)d") % {
            "p": value["probability"], "i": value["impact"], "score": score}
        return in_turn(filter(None, [level, listed(value["models"])]))

    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None) -> dict:
        engagement = survey.engagement
        fields = {**_words(item), "probability": item.value["probability"],
                  "impact": item.value["impact"]}
        known = _known(survey, before)
        if known:
            update_risk(actor=actor, risk=known, **fields)
            return {"risk": known.pk}
        risk = add_risk(actor=actor, engagement=engagement, owner=_owner(engagement),
                        review_on=timezone.localdate() + REVIEW_AFTER, **fields)
        return {"risk": risk.pk}

    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        """The risk is closed; it stays in the list."""
        if risk := _known(survey, applied):
            update_risk(actor=actor, risk=risk, state=Risk.State.CLOSED)


def _rule_of(key: str) -> Rule:
    return FEW_RUNS if key == TOO_FEW_RUNS else RULES[key]


def _runs(given: CountedAnswers, model: MigratedModel) -> int:
    """Repetitions of the baseline as answered; unanswered is not few."""
    runs = given.whole("repeats", model)
    return FEWEST_RUNS if runs is None else runs


def _words(item: Item) -> dict[str, str]:
    """Title and response of the risk in both languages: documents are made in either."""
    title, response = both(lambda: _title(item)), both(lambda: _rule_of(item.key).response)
    return {"title": title["zh-hans"], "title_en": title["en"],
            "response": response["zh-hans"], "response_en": response["en"]}


def _title(item: Item) -> str:
    return f"{_rule_of(item.key).title}{bracketed(listed(item.value['models']))}"[:160]


def _known(survey: Survey, applied: Consequence | None) -> Risk | None:
    number = applied.result.get("risk") if applied else None
    return Risk.objects.filter(pk=number, engagement=survey.engagement).first()


def _owner(engagement: Engagement) -> User:
    """The project manager of the team, else a consultant."""
    members = engagement.memberships.filter(
        role__in=[Role.MANAGER, Role.CONSULTANT]).select_related("user")
    chosen = next(iter(sorted(members, key=lambda m: (m.role != Role.MANAGER, m.pk))), None)
    if chosen is None:
        raise InvalidInput(_("Put a project manager or a consultant on the team first: "
                             "risks need an owner."))
    return chosen.user
