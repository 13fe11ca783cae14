"""Effort, schedule, milestones, risks, issues and people as tables."""

from decimal import Decimal

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from delivery.agreement.facts import money, payable, shown, told
from delivery.documents.bilingual import both, named, pair
from delivery.documents.tables.table import column, table
from delivery.planning.models import Milestone
from delivery.planning.queries import grand_total, totals
from delivery.quotes.snapshot import grade_label
from delivery.reports.facts.source import Source
from delivery.reports.facts.stage_sheets import texts_of
from delivery.reports.facts.survey import codes_of
from engagements.models import Role
from engagements.stages import Stage
from engagements.text.text_joining import listed


def effort(source: Source) -> dict:
    """The person-days that were agreed; before that those of the estimate by stage, low, likely and
    high, the total last."""
    if source.agreement.value("effort"):
        return {**staffing(source), "caption": both(lambda: _("Effort in person-days"))}
    estimate = source.estimate
    rows = [[both(lambda v=row["stage"]: Stage(v).label), *_three(row)]
            for row in totals(estimate, "stage")] if estimate else []
    if rows:
        rows.append([both(lambda: _("Total")), *_three(grand_total(estimate))])
    return {**table(lambda: _("Effort in person-days"), [
        column(lambda: _("Stage")), column(lambda: capfirst(_("low")), "number"),
        column(lambda: capfirst(_("likely")), "number", is_required=True),
        column(lambda: capfirst(_("high")), "number")], rows,
        empty=lambda: _("No effort has been estimated yet.")), "cure": _page("effort", source)}


def _three(row: dict) -> list[str]:
    return [_days(row[name]) for name in ("low", "likely", "high")]


def _days(value) -> str:
    """Person-days with one decimal, so that a column's points stand below one another."""
    return f"{Decimal(value):.1f}"


def staffing(source: Source) -> dict:
    """Person-days by grade, as agreed. The firm's own estimate is no fact of the contract."""
    agreed = (source.agreement.value("effort") or {"grades": {}})["grades"]
    rows = [[both(lambda g=grade: capfirst(grade_label(g))), _days(days)]
            for grade, days in agreed.items()]
    return {**table(lambda: _("Personnel"), [
        column(lambda: _("Grade")),
        column(lambda: _("Person-days"), "number", is_required=True)],
        [*rows, [both(lambda: _("Total")), _days(_sum(agreed))]] if rows else [],
        empty=lambda: shown("effort", None)), "cure": _page("effort", source)}


def _sum(days: dict[str, str]) -> Decimal:
    return sum(map(Decimal, days.values()), Decimal(0))


def tasks(source: Source) -> dict:
    """The schedule: tasks that models share in owner and dates stand on one line."""
    lines: dict[tuple, list[str]] = {}
    for row in sorted(source.schedule, key=lambda row: (row.start, row.finish)):
        task = row.task
        key = (task.stage, task.title, task.title_en, task.owner, row.start,
               row.finish, task.days)
        lines.setdefault(key, []).append(task.model.code if task.model else "")
    rows = [[pair(title, title_en) if title else both(lambda s=stage: Stage(s).label),
             codes_of(codes, source) if any(codes) else "–",
             named(owner) if owner else _manager(source),
             f"{start:%Y-%m-%d}", f"{finish:%Y-%m-%d}", days]
            for (stage, title, title_en, owner, start, finish, days), codes in lines.items()]
    return {**table(lambda: _("Tasks and dates"), [
        column(lambda: _("Task")), column(lambda: _("Models")),
        column(lambda: _("Responsible"), is_required=True),
        column(lambda: _("Start"), "day", is_required=True),
        column(lambda: _("Finish"), "day", is_required=True),
        column(lambda: _("Working days"), "number")], rows,
                    empty=lambda: _("No plan has been "
                                    "made yet.")), "cure": _page("plan", source)}


def _manager(source: Source) -> str | dict[str, str]:
    """Who answers for a task that names nobody: the engagement's project manager."""
    found = list(source.engagement.memberships.filter(role=Role.MANAGER).select_related("user"))
    return both(lambda: ", ".join(str(row.user) for row in found)) if found else ""


def stages_in_time(source: Source) -> dict:
    """The schedule by stage: first start, last finish, models."""
    found: dict[str, list] = {}
    for row in source.schedule:
        if row.task.stage:
            found.setdefault(row.task.stage, []).append(row)
    rows = [[both(lambda v=stage: Stage(v).label), f"{min(r.start for r in found[stage]):%Y-%m-%d}",
             f"{max(r.finish for r in found[stage]):%Y-%m-%d}",
             len({r.task.model_id for r in found[stage] if r.task.model_id})]
            for stage in Stage.values if stage in found]
    return {**table(lambda: _("Schedule by stage"), [
        column(lambda: _("Stage")), column(lambda: _("Start"), "day"),
        column(lambda: _("Finish"), "day"), column(lambda: _("Models"), "number")], rows,
                    empty=lambda: _("No plan has been "
                                    "made yet.")), "cure": _page("plan", source)}


def milestones(source: Source) -> dict:
    """The agreed payments with their amounts; date and trigger are those of the plan's milestone
    in the same place."""
    finish = {row.task.pk: row.finish for row in source.schedule}
    planned, price = planned_milestones(source), source.agreement.value("price")
    rows = [[row["name"], f"{finish.get(planned[n].task_id) or ''}" if n in planned else "",
             both(planned[n].get_trigger_display) if n in planned else "–", f"{row['percent']} %",
             both(lambda r=row: payable(r) or "–"),
             money(price["currency"], row["amount"]) if price and row["amount"] else "–"]
            for n, row in enumerate(source.agreement.value("payments") or ())]
    return {**table(lambda: _("Milestones and payments"), [
        column(lambda: _("Milestone")), column(lambda: _("Date"), "day"),
        column(lambda: _("Released by")), column(lambda: _("Payment"), "number",
                                                 is_required=True),
        column(lambda: _("Payable by")), column(lambda: _("Amount (incl. tax)"), "number")], rows,
        empty=lambda: shown("payments", None)), "cure": _page("milestones", source)}


def planned_milestones(source: Source) -> dict[int, Milestone]:
    """The plan's milestones by their place; none where their payments are not the agreed ones."""
    found = list(source.plan.milestones.all()) if source.plan else []
    agreed = [Decimal(row["percent"]) for row in source.agreement.value("payments") or ()]
    return dict(enumerate(found)) if [row.percent for row in found] == agreed else {}


def risks(source: Source) -> dict:
    """Risks that are not closed, the gravest first."""
    found = sorted(source.engagement.risks.for_customers().select_related("owner"),
                   key=lambda risk: (-risk.score, risk.number))
    return {**table(lambda: _("Risks and responses, probability and impact from 1 to 5"), [
        column(lambda: _("No."), "code"), column(lambda: _("Risk")),
        column(lambda: _("Probability"), "number"), column(lambda: _("Impact"), "number"),
        column(lambda: _("Response"), is_required=True), column(lambda: _("Owner"))],
                    [[f"R-{r.number:03}", pair(r.title, r.title_en), r.probability, r.impact,
                      r.response and pair(r.response, r.response_en), named(r.owner)]
                     for r in found],
                    is_dense=True, empty=lambda: _("No risk is recorded.")),
        "cure": _page("control", source)}


def issues(source: Source) -> dict:
    """The list of outstanding issues (DOMAIN 9.10): recorded ones, then criteria not passed."""
    rows = [[f"I-{i.number:03}", i.model.code if i.model else "–", i.description,
             both(i.get_level_display), f"{i.raised_on}", named(i.owner),
             f"{i.due_on}\n{i.closed_on or '–'}",
             both(lambda i=i: _("closed") if i.closed_on else _("open")), i.effect or "–",
             both(lambda i=i: _("yes") if i.affects_final else _("no"))]
            for i in source.engagement.project_issues.select_related("owner", "model")]
    return {**table(lambda: _("Outstanding issues"), is_dense=True, columns=[
        column(lambda: _("No."), "code"), column(lambda: _("Model"), "code"),
        column(lambda: _("Description"), is_required=True),
        column(lambda: _("Level")), column(lambda: _("Raised"), "day"),
        column(lambda: _("Responsible"), is_required=True),
        column(lambda: _("Due / closed"), "day", is_required=True),
        column(lambda: _("State")), column(lambda: _("Effect")),
        column(lambda: _("Affects the final acceptance"))], rows=rows,
                    empty=lambda: _("No issue is recorded.")), "cure": _page("control", source)}


def scope_of_work(source: Source) -> dict:
    """The tasks of a statement of work, one per stage in scope (DOMAIN 9.5), with the deliverables
    and the person-days that were agreed for it; what was priced for several stages at once stands
    on a line of its own, so that the days add up to those of the grades."""
    effort = source.agreement.value("effort") or {"grades": {}, "stages": {}, "services": []}
    rows, rest, total = [], _sum(effort["grades"]), _sum(effort["grades"])
    for n, stage in enumerate(stages_in_scope(source), 1):
        description, supplier, customer, mark = texts_of(stage)
        due = [entry["title"] for entry in source.agreement.value("deliverables") or ()
               if entry["due"] == stage]
        days = effort["stages"].get(stage)
        rest -= Decimal(days or 0)
        rows.append([f"W{n:02}", both(lambda s=stage: Stage(s).label), description, supplier,
                     customer, both(lambda due=due: listed(map(told, due)) or "–"), mark,
                     _days(days) if days else "–"])
    if rest:
        rows.append([f"W{len(rows) + 1:02}", both(lambda: _("Several stages")),
                     both(lambda: listed(dict.fromkeys(
                         told(row["name"]) for row in effort["services"] if not row["stage"]))),
                     both(lambda: _("Renders these services in the stages that need them")), "–",
                     "–", both(lambda: _("With the stages above")), _days(rest)])
    if total:
        rows.append(["", both(lambda: _("Total")), *[""] * 5, _days(total)])
    return table(lambda: _("Tasks"), [
        column(lambda: _("Code"), "code"), column(lambda: _("Stage")),
        column(lambda: _("Description")), column(lambda: _("Supplier's duty")),
        column(lambda: _("Customer's duty")), column(lambda: _("Deliverables")),
        column(lambda: _("Mark of completion")), column(lambda: _("Person-days"), "number")],
        rows, empty=lambda: shown("scope", None))


def stages_in_scope(source: Source) -> list[str]:
    """Stages that at least one model goes through as agreed, in order."""
    found = {stage for stages in (source.agreement.value("scope") or {}).values()
             for stage in stages}
    return [stage for stage in Stage.values if stage in found]


def _page(name: str, source: Source) -> str:
    return reverse(f"planning:{name}", args=[source.engagement.code])
