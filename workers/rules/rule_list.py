"""The rules as rows for pages and the API."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from workers.rules.base import RULES, Rule

FAMILIES = {
    "R-ENV": _("Environment"), "R-SCR": _("Source code"), "R-ACC": _("Accuracy workflow"),
    "R-CFG": _("Variables and tuning parameters"), "R-PAR": _("Parallelism"),
    "R-INF": _("Conversion and inference"),
}


def filtered_rules(params: Mapping[str, str]) -> list[Rule]:
    """Rules by family, severity and a part of code, sentence or action, ordered by code."""
    text = params.get("q", "").strip().lower()
    family, severity = params.get("family", ""), params.get("severity", "")
    order = list(FAMILIES)
    found = [rule for rule in RULES.values()
             if (not family or rule.family == family)
             and (not severity or rule.severity == severity)
             and (not text or text in f"{rule.code} {rule.text} {rule.action}".lower())]
    return sorted(found, key=lambda rule: (
        order.index(rule.family) if rule.family in order else len(order), rule.code))
