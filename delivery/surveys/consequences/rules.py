"""Rules to run: which validation rules concern a model, and what they say of the answers."""

import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from delivery.surveys.consequences.base import Item, Kind, register
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.models import Consequence, Survey
from engagements.models import MigratedModel, User
from engagements.text.text_joining import bracketed, following, listed
from workers.rules import RULES, Hit, Outcome, check
from workers.rules.rule_list import FAMILIES


@register
class RulesToRun(Kind):
    code = "rules"
    title = gettext_lazy("Rules to run")
    explanation = gettext_lazy("The gate of the design stage requires that the answers break none "
                               "of the blocking rules among these.")

    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        for model in given.models:
            if given.value("framework", model):
                yield Item(self.code, "chosen", model, {"rules": rules_for(given, model)},
                           ("framework", "model_scope", "libraries", "quantisation", "hosting"))

    def label(self, key: str) -> str:
        return _("Validation rules")

    def show(self, key: str, value: dict[str, Any]) -> str:
        codes = value["rules"]
        families = listed(
            f"{label} {count}" for family, label in FAMILIES.items()
            if (count := sum(code.rsplit("-", 1)[0] == family for code in codes)))
        return ngettext("%(n)d rule: %(families)s", "%(n)d rules: %(families)s", len(codes)) % {
            "n": len(codes), "families": families}

    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None) -> dict:
        return {}

    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        """The row is all there is."""


def rules_for(given: CountedAnswers, model: MigratedModel) -> list[str]:
    """Codes of the rules that concern a model with these answers, in order (DOMAIN 5)."""
    facts = _situation(given, model)
    return [code for code, rule in sorted(RULES.items())
            if facts[rule.family] and facts.get(code, True)]


def _situation(given: CountedAnswers, model: MigratedModel) -> dict[str, bool]:
    """Which families, and within them which special rules, concern the model."""
    framework = given.value("framework", model)
    is_torch, is_tf = framework == "pytorch", framework == "tensorflow"
    is_ms, trains, infers = framework == "mindspore", given.trains(model), given.infers(model)
    libraries = given.text("libraries", model).lower()
    is_megatron = "megatron" in libraries or "mindspeed" in libraries
    serves = infers and (given.value("model_format", model) == "safetensors"
                         or "vllm" in libraries or "mindie" in libraries)
    scripts = {f"R-SCR-{n:02}": is_torch for n in (*range(1, 16), *range(17, 20))}
    return {
        "R-ENV": True, "R-SCR": (is_torch or is_tf) and trains, "R-ACC": trains,
        "R-CFG": trains, "R-PAR": trains and (given.whole("train_cards", model) or 0) > 1,
        "R-INF": infers, **scripts,
        "R-SCR-05": is_megatron, "R-SCR-10": is_megatron, "R-SCR-16": is_tf, "R-SCR-20": is_tf,
        "R-CFG-23": is_torch, "R-CFG-24": is_torch,
        "R-ENV-02": is_ms, "R-ENV-03": is_ms or is_tf, "R-ENV-08": is_tf,
        "R-ENV-09": is_tf or is_ms, "R-ENV-12": is_megatron, "R-ENV-18": is_torch,
        "R-ENV-13": given.value("hosting") == "container", "R-ENV-15": serves,
        "R-INF-02": False, "R-INF-03": False,  # Caffe is no answer of the questionnaire
        "R-INF-05": is_ms, "R-INF-09": serves, "R-INF-10": serves and is_quantised(given, model),
        "R-INF-11": serves, "R-INF-12": serves, "R-INF-15": given.value("dvpp", model) == "yes"}


def is_quantised(given: CountedAnswers, model: MigratedModel) -> bool:
    """Whether any quantisation is wanted."""
    return given.value("quantisation", model) not in (None, "none")


def answered_facts(given: CountedAnswers, model: MigratedModel) -> dict[str, Any]:
    """The answers as facts for `workers.rules.check`; what was not answered is left out."""
    cards, nodes = given.whole("train_cards", model), given.whole("train_nodes", model)
    parallel = given.parallel(model)
    cann = re.search(r"CANN\s*[:：]?\s*([0-9]\S*)", given.text("cann"), re.IGNORECASE)
    framework, version = given.value("framework", model), given.text("framework_version", model)
    facts = {
        "world_size": cards, "processes": cards, "tp": parallel.get("tp"),
        "cards_per_node": cards // nodes if cards and nodes and cards % nodes == 0 else None,
        "pp": parallel.get("pp"), "cp": parallel.get("cp"),
        "declared_dp": None if parallel.get("cp", 1) > 1 else parallel.get("dp"),
        "gbs": given.whole("global_batch", model),
        "mbs": int(given.hyper(model).get("micro_batch_size", 0)) or None,
        "baseline_runs": given.whole("repeats", model), "os": given.text("os") or None,
        "arch": given.value("arch"), "cann": cann[1] if cann else None,
        "mindspore": version if framework == "mindspore" else None,
        "data_storage": "nvme" if "nvme" in given.text("storage").lower() else None,
        "is_dvpp_chained": given.value("dvpp", model) == "yes" or None}
    return {name: value for name, value in facts.items() if value is not None}


def in_words(hit: Hit) -> str:
    """What the rule says and what to do, without the names that rules have for facts."""
    return following(hit.text, hit.action) + bracketed(hit.rule)


def findings(given: CountedAnswers, model: MigratedModel,
             codes: list[str] | None = None) -> Outcome:
    """What the model's rules say of the answers; rules that need more are not checked."""
    chosen = rules_for(given, model) if codes is None else [c for c in codes if c in RULES]
    return check(answered_facts(given, model), chosen)
