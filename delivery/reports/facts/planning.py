"""Effort, schedule, milestones, risks, issues and people as tables."""

from decimal import Decimal

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both, named, pair
from delivery.documents.tables.table import column, table
from delivery.planning.queries import grand_total, totals
from delivery.quotes.snapshot import grade_label
from delivery.reports.facts.source import Source
from delivery.reports.facts.stage_sheets import texts_of
from delivery.reports.facts.survey import codes_of
from engagements.models import Role
from engagements.stages import OUT_OF_SCOPE, Stage


def effort_by_stage(source: Source) -> dict:
    """Person-days by stage: low, likely, high; the total last."""
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
    """Person-days by grade, as quoted; where nothing was quoted, as estimated."""
    quoted = source.quoted.get("staffing") or []
    rows = [[both(lambda e=e: capfirst(grade_label(e["grade"]))), _days(e["days"])] for e in quoted]
    if not rows and source.estimate:
        rows = [[both(lambda v=r["grade"]: capfirst(grade_label(v))), _days(r["likely"])]
                for r in totals(source.estimate, "grade")]
    return {**table(lambda: _("Personnel"), [
        column(lambda: _("Grade")),
        column(lambda: _("Person-days"), "number", is_required=True)], rows,
        empty=lambda: _("No personnel has "
                        "been planned yet.")), "cure": _page("effort", source)}


def effort_compared(source: Source) -> dict:
    """Person-days of the estimate and of the quotation, and what they differ by; no row where one
    of them is missing."""
    estimate, quoted = source.estimate, source.quoted.get("staffing") or []
    rows = []
    if estimate and quoted:
        likely, sold = grand_total(estimate)["likely"], sum(Decimal(e["days"]) for e in quoted)
        rows = [[both(lambda: _("Estimate V%(version)s, likely") % {"version": estimate.version}),
                 _days(likely)],
                [both(lambda: _("Quotation %(quote)s") % {
                    "quote": f"{source.quoted['number']} V{source.quoted['version']}"}),
                 _days(sold)],
                [both(lambda: _("Difference")), _days(sold - likely)]]
    return {**table(lambda: _("Person-days of estimate and quotation"), [
        column(lambda: _("Where from")), column(lambda: _("Person-days"), "number")], rows,
                    empty=lambda: _("There is no estimate or no quotation to compare.")),
        "cure": _page("effort", source)}


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
    """Milestones with their dates, trigger documents and payments."""
    finish = {row.task.pk: row.finish for row in source.schedule}
    found = source.plan.milestones.all() if source.plan else []
    rows = [[both(lambda m=m: m.localized_name), f"{finish.get(m.task_id) or ''}",
             both(m.get_trigger_display), f"{m.percent.normalize():f} %"] for m in found]
    if not rows:
        rows = [[{"zh-hans": t["name"], "en": t.get("name_en") or t["name"]}, "",
                 both(lambda: _("as quoted")), f"{t['percent']} %"]
                for t in source.quoted.get("payment", [])]
    return {**table(lambda: _("Milestones and payments"), [
        column(lambda: _("Milestone")), column(lambda: _("Date"), "day"),
        column(lambda: _("Released by")), column(lambda: _("Payment"), "number",
                                                 is_required=True)], rows,
        empty=lambda: _("No milestone has "
                        "been set yet.")), "cure": _page("milestones", source)}


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
    """The tasks of a statement of work, one per stage in scope (DOMAIN 9.5)."""
    days = {row["stage"]: row["likely"] for row in totals(source.estimate, "stage")
            } if source.estimate else {}
    rows = []
    for n, stage in enumerate(stages_in_scope(source), 1):
        description, supplier, customer, deliverables, mark = texts_of(stage)
        effort = _days(days[stage]) if stage in days else ""
        rows.append([f"W{n:02}", both(lambda s=stage: Stage(s).label), description, supplier,
                     customer, deliverables, mark, effort])
    return {**table(lambda: _("Tasks"), [
        column(lambda: _("Code"), "code"), column(lambda: _("Stage")),
        column(lambda: _("Description"), is_required=True),
        column(lambda: _("Supplier's duty"), is_required=True),
        column(lambda: _("Customer's duty"), is_required=True),
        column(lambda: _("Deliverables"), is_required=True),
        column(lambda: _("Mark of completion"), is_required=True),
        column(lambda: _("Person-days"), "number", is_required=True)], rows),
        "cure": _page("effort", source)}


def deliverables(source: Source) -> dict:
    """What is handed over, by stage."""
    rows = [[n, texts_of(stage)[3], both(lambda s=stage: Stage(s).label), texts_of(stage)[4]]
            for n, stage in enumerate(stages_in_scope(source), 1)]
    return table(lambda: _("Deliverables"), [
        column(lambda: _("No."), "number"), column(lambda: _("Deliverable")),
        column(lambda: _("Stage")), column(lambda: _("Accepted when"))], rows)


def stages_in_scope(source: Source) -> list[str]:
    """Stages that at least one model goes through, in order."""
    return [stage for stage in Stage.values
            if any(stage not in OUT_OF_SCOPE[model.scope] for model in source.models)]


def _page(name: str, source: Source) -> str:
    return reverse(f"planning:{name}", args=[source.engagement.code])
