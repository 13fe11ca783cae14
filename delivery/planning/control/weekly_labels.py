"""The facts of a week in words: lines for the page, and the first draft of the report."""

from collections.abc import Callable

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from assessments.models import Outcome
from delivery.planning.models import ProjectIssue, Risk, WeeklyReport
from delivery.planning.plan.task_names import name_of, shared_names
from engagements.models.engagement import localized
from engagements.stages import Stage, StageMove
from engagements.text.text_joining import listed
from workers.models import JobState

MOST_LINES = 7  # of one list in print


def done_lines(facts: dict) -> list[str]:
    """What was done: gates, jobs, verdicts, documents, tasks, days."""
    lines = [_("%(model)s · %(stage)s: %(move)s (%(by)s)") % {
        "model": m["model"], "stage": Stage(m["stage"]).label,
        "move": StageMove(m["move"]).label,
        "by": localized(m["by"], m.get("by_en", ""))} for m in facts["moves"]]
    if facts["jobs"]:
        lines.append(_("Jobs finished: %(counts)s.") % {
            "counts": _counts(facts["jobs"], JobState)})
    if facts["verdicts"]:
        lines.append(_("Verdicts computed: %(counts)s.") % {
            "counts": _counts(facts["verdicts"], Outcome)})
    is_old = "signed" not in facts  # one list of both
    lines += [(_("Issued or signed: %(document)s.") if is_old else _("Issued: %(document)s.")) % {
        "document": d} for d in facts["documents"]]
    lines += [_("Signed: %(document)s.") % {"document": d} for d in facts.get("signed", [])]
    lines += [_("Withdrawn: %(document)s.") % {"document": d} for d in facts.get("withdrawn", [])]
    lines += [_("Change in force: %(change)s.") % {"change": change}
              for change in facts.get("changes", [])]
    lines += [_("Task finished: %(task)s.") % {"task": name_of(t)}
              for t in facts["plan"].get("finished", [])]
    if facts["days"]:
        lines.append(_("Person-days: %(days)s.") % {"days": listed(
            f"{row['person']} {row['days']:g}" for row in worked_days(facts))})
    return lines


def worked_days(facts: dict) -> list[dict]:
    """Who worked how many days; older reports hold no English names."""
    return [{**row, "person": localized(row["person"], row.get("person_en", ""))}
            for row in facts["days"]]


def problem_lines(facts: dict) -> list[str]:
    """What stands in the way: late tasks, failed jobs, open issues, risks, overdue to-dos."""
    lines = [ngettext("%(task)s is %(n)d working day behind the baseline.",
                      "%(task)s is %(n)d working days behind the baseline.", late["slip"]) % {
        "task": name_of(late["task"]), "n": late["slip"]} for late in facts["plan"].get("late", [])]
    if facts["issues"]:
        lines.append(_("Open issues: %(counts)s.") % {
            "counts": _counts(facts["issues"], ProjectIssue.Level)})
    lines += [(_("%(issue)s, overdue since %(due)s") if row["is_late"]
               else _("%(issue)s, due on %(due)s")) % row for row in facts.get("open_issues", [])]
    lines += [_("%(risk)s (%(score)d of 25)") % row for row in risk_rows(facts)
              if row["score"] >= Risk.HIGH_FROM]
    if facts["todos"]["overdue"]:
        lines.append(_("Overdue to-dos: %(n)d.") % {"n": facts["todos"]["overdue"]})
    return lines


def risk_rows(facts: dict) -> list[dict]:
    """The gravest risks with their names in the active language."""
    return [{**row, "risk": localized(row["risk"], row["risk_en"])} for row in facts["risks"]]


def next_lines(facts: dict) -> list[str]:
    """Tasks of the coming week, the models that share one on one line."""
    return shared_names(facts["plan"].get("next", []))


LINES = {"summary": done_lines, "problems": problem_lines, "next_week": next_lines}


def in_reader_words(report: WeeklyReport) -> dict[str, str]:
    """Summary, problems and plan; lines that the system wrote stand in the active language.

    A line that a person wrote or changed stays as it is.
    """
    return {name: _translated(getattr(report, name), lines, report.facts)
            for name, lines in LINES.items()}


def _translated(text: str, lines: Callable[[dict], list[str]], facts: dict) -> str:
    known = {}
    for language, _name in settings.LANGUAGES:
        with override(language):
            written = lines(facts)
        known.update(zip(written, lines(facts), strict=False))
    return "\n".join(known.get(line, line) for line in text.splitlines())


def first_words(facts: dict) -> dict[str, str]:
    """The draft's fields in the writer's language; a person goes on from there."""
    return {**{name: "\n".join(first_of(lines(facts))) for name, lines in LINES.items()},
            "light": light(facts)}


def first_of(lines: list) -> list:
    """As many lines as leave the report on two pages; how many more there are is the last."""
    rest = len(lines) - MOST_LINES
    return lines if rest <= 1 else [*lines[:MOST_LINES], ngettext(
        "%(n)d more on the page of the week.", "%(n)d more on the page of the week.", rest) % {
            "n": rest}]


def light(facts: dict) -> str:
    """Red with a blocking issue, yellow with late tasks or a high risk, otherwise green."""
    if facts["issues"].get(ProjectIssue.Level.BLOCKING):
        return WeeklyReport.Light.RED
    high = any(row["score"] >= Risk.HIGH_FROM for row in facts["risks"])
    return WeeklyReport.Light.YELLOW if high or facts["plan"].get("late") else (
        WeeklyReport.Light.GREEN)


def _counts(counts: dict[str, int], choices) -> str:
    return listed(f"{choices(code).label} {n}" for code, n in sorted(counts.items()))
