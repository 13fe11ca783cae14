"""The facts of a change in words of the active language, for its page and its document."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from django.utils.translation import gettext as _

from assessments.models import MetricDefinition
from delivery.planning.changes.effect_sentences import effect_sentences
from delivery.planning.changes.scope_effects import COMING
from delivery.planning.models import ChangeRequest, CriterionEffect, ScopeAction
from delivery.planning.plan.task_names import name_of
from delivery.quotes.snapshot import grade_label, unit_label
from delivery.quotes.templatetags.quotes import amount
from engagements.models.engagement import localized
from engagements.stages import Scope, Stage
from toolreaders.verdicts.sentences import in_unit


def presented(facts: dict) -> dict:
    """Facts with names, units and labels in the active language; figures are untouched.

    Each effect is `said` as the facts have it; `remark` is what somebody typed beside it.
    """
    worded = _worded(facts)
    sentences = effect_sentences(worded)
    return {**worded, **{name: {**worded[name], **words} for name, words in sentences.items()}}


def _worded(facts: dict) -> dict:
    price, schedule, criteria = facts["price"], facts["schedule"], facts["criteria"]
    return {
        **facts, "category_label": str(ChangeRequest.Category(facts["category"]).label),
        "scope": {"text": facts["scope"]["text"],
                  "effects": [scope_row(row) for row in facts["scope"].get("effects", [])],
                  "added": [_line(line) for line in facts["scope"]["added"]],
                  "removed": [_line(line) for line in facts["scope"]["removed"]]},
        "effort": _effort(facts["effort"], price),
        "schedule": {**schedule, "tasks": [_task(row) for row in schedule.get("tasks", [])],
                     "quoted_days": _quoted_days(price)},
        "price": {**price, "lines": _lines(price), "totals": _totals(price),
                  "symbol": localized(price.get("symbol", ""), f"{price.get('currency', '')} ")},
        "criteria": {**criteria, "rows": [_criterion(row) for row in criteria.get("rows", [])]},
    }


def scope_row(row: dict) -> dict:
    """What comes in or falls out, in words of the active language."""
    return {**row, "label": str(ScopeAction(row["action"]).label),
            "tag": "passed" if row["action"] in COMING else "failed",
            "name": localized(row["name"], row["name_en"]),
            "stage_label": str(Stage(row["stage"]).label) if row["stage"] else "",
            "scope_label": str(Scope(row["scope"]).label)}


def threshold_row(effect: CriterionEffect) -> dict:
    """A criterion's threshold before and after in the unit of its definition."""
    unit = effect.criterion.definition.unit
    return {"pk": effect.pk, "criterion": str(effect.criterion),
            "before": in_unit(effect.threshold_before, unit),
            "after": in_unit(effect.threshold_after, unit)}


def _effort(effort: dict, price: dict) -> dict:
    """Person-days by grade; `quoted` is what the lines of the quote come to, where one changes."""
    if not effort:
        return {}
    quoted = _quoted_days(price)
    return {**effort, "quoted": quoted if price else None,
            "differs": bool(price) and quoted != Decimal(effort["days"]),
            "grades": [{**row, "label": grade_label(row["grade"])} for row in effort["grades"]]}


def _quoted_days(price: dict) -> Decimal:
    """Person-days more or less in the lines of the quote."""
    changed = sum(_days(pair["after"]) - _days(pair["before"]) for pair in price.get("changed", []))
    return (changed + sum(map(_days, price.get("added", [])))
            - sum(map(_days, price.get("removed", []))))


def _days(line: dict) -> Decimal:
    return Decimal(line["quantity"]) if line["unit"] == "person_day" else Decimal(0)


def _line(line: dict) -> dict:
    return {**line, "name": localized(line["name"], line["name_en"]),
            "unit_label": unit_label(line["unit"]), "grade_label": grade_label(line["grade"]),
            "stage_label": str(Stage(line["stage"]).label) if line["stage"] else ""}


def _lines(price: dict) -> list[dict]:
    """Rows of the price table: what happens, the line before and after, what it comes to."""
    rows = [{"label": _("added"), "tag": "passed", "before": None, "after": _line(line)}
            for line in price.get("added", [])]
    rows += [{"label": _("removed"), "tag": "failed", "before": _line(line), "after": None}
             for line in price.get("removed", [])]
    rows += [{"label": _("changed"), "tag": "pending", "before": _line(pair["before"]),
              "after": _line(pair["after"])} for pair in price.get("changed", [])]
    return [_row(**row) for row in rows]


def _row(*, label: str, tag: str, before: dict | None, after: dict | None) -> dict:
    """Figures before and after in one cell where they are short; amounts in columns of their own.

    `months` is empty for what is not paid monthly.
    """
    both = [line for line in (before, after) if line]
    months = _from_to(line["months"] for line in both)
    net, net_after = (Decimal(line["net"]) if line else Decimal(0) for line in (before, after))
    return {"label": label, "tag": tag, "line": after or before,
            "quantity": _from_to(line["quantity"] for line in both),
            "months": "" if months == "1" else months,
            "unit_price": _from_to(amount(line["unit_price"]) for line in both),
            "net": [amount(before and before["net"]), amount(after and after["net"])],
            "difference": net_after - net}


def _from_to(values: Iterable[str]) -> str:
    """5 → 8; one figure where it stays, or where there is no line before or after."""
    return " → ".join(dict.fromkeys(values))


def _totals(price: dict) -> list[dict]:
    labels = {"net": _("Total excluding tax"), "tax": _("Tax"), "gross": _("Total including tax")}
    return [{"label": labels[name], "before": before, "after": after, "difference": difference}
            for name, (before, after, difference) in price.get("totals", {}).items()]


def _task(row: dict) -> dict:
    """What happens to a task; `later` is how many calendar days its end moves, negative for
    earlier, None without both ends."""
    label, tag = ((_("enters scope"), "passed") if not row["before"]
                  else (_("leaves scope"), "failed") if not row["after"]
                  else (_("changed"), "pending") if row["is_changed"]
                  else (_("rescheduled"), "queued"))
    ends = [date.fromisoformat(row[name][1]) for name in ("before", "after") if row[name]]
    return {**row, "task": name_of(row["task"]), "label": label, "tag": tag,
            "later": (ends[1] - ends[0]).days if len(ends) == 2 else None}


def _criterion(row: dict) -> dict:
    return {**row, "name": localized(row["name"], row["name_en"]),
            "stage_label": str(Stage(row["stage"]).label),
            "before": _threshold(row, row["before"]), "after": _threshold(row, row["after"])}


def _threshold(row: dict, value: str) -> str:
    """≤ 10 ms; fractions of figures in per cent as per cent; nothing for a dropped criterion."""
    if not value:
        return ""
    sign = str(MetricDefinition.Comparison(row["comparison"]).label)
    shown = f"{(Decimal(value) * 100).normalize():f}" if row["unit"] == "%" else value
    return f"{sign} {shown} {row['unit']}".strip()
