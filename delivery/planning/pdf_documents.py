"""Minutes, weekly report, change order and timesheet in print (DOMAIN 9.10)."""

from collections.abc import Callable
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from bundle_verifier import canonical
from delivery.documents.banners import working_copy
from delivery.documents.bilingual import in_language
from delivery.documents.branding.theme import page_headers, theme_for
from delivery.documents.models import CompanyProfile
from delivery.documents.pdf import css_string, render_pdf
from delivery.planning.changes import change_labels
from delivery.planning.changes.change_facts import shown_facts
from delivery.planning.control.weekly_labels import (
    done_lines,
    first_of,
    in_reader_words,
    problem_lines,
    risk_rows,
    worked_days,
)
from delivery.planning.models import ChangeRequest, Meeting, Timesheet, WeeklyReport
from delivery.planning.plan.task_names import shared_names
from delivery.planning.time import timesheet_labels
from engagements.models import Engagement, User
from engagements.models.engagement import localized

HASH_SHOWN = 32  # characters of the content hash in the footer


def minutes_pdf(meeting: Meeting, language: str) -> bytes:
    """The minutes: decisions and to-dos with owners and dates, for both sides to confirm.

    They hold nothing but what people wrote, so that both languages bear the same hash.
    """
    number = str(meeting).split(" ")[0]
    digest = canonical.content_hash(
        {"number": number, **_minutes_facts(meeting, User.get_full_name)}, canonical.SPACED)
    return _document_pdf("minutes", meeting.engagement, number, language,
                         lambda: _minutes_facts(meeting, str), digest, is_working_copy=True)


def _minutes_facts(meeting: Meeting, name: Callable[[User], str]) -> dict:
    """What the minutes say, with people named by `name`."""
    return {"meeting": {
        **{field: getattr(meeting, field) for field in (
            "topic", "place", "chair", "participants", "discussion")},
        "agenda": meeting.agenda_lines,
        "attachments": [{"name": file.name, "sha256": file.sha256}
                        for file in meeting.attachments.order_by("pk")],
        "held_at": _minute(meeting.held_at), "recorded_by": name(meeting.recorded_by),
        "decisions": meeting.decision_lines,
        "todos": [{"text": todo.text, "owner": name(todo.owner), "due": f"{todo.due_on}"}
                  for todo in meeting.todos.select_related("owner")]}}


def weekly_pdf(report: WeeklyReport, language: str) -> bytes:
    """The weekly report; a draft carries a mark."""
    late = report.facts["plan"].get("late", [])

    def facts() -> dict:
        words = in_reader_words(report)
        return {"report": {
            **{name: getattr(report, name) for name in ("deviations", "customer_duties", "light")},
            **words,
            "light_label": report.get_light_display(), "written_by": str(report.written_by),
            "week": [f"{report.week_start}", f"{report.week_end}"],
            "facts": {**report.facts, "risks": risk_rows(report.facts),
                      "days": worked_days(report.facts)},
            # what the writer did not take over into the text
            "done": first_of([line for line in done_lines(report.facts)
                              if line not in words["summary"]]),
            "finished": first_of(shared_names(report.facts["plan"].get("finished", []))),
            "in_progress": first_of(shared_names(report.facts["plan"].get("in_progress", []))),
            "milestones": [{**row, "name": localized(row["name"], row["name_en"])}
                           for row in report.facts["plan"].get("milestones", [])],
            "in_the_way": [] if report.problems else first_of(problem_lines(report.facts)),
            "late": len(late), "most_late": max((row["slip"] for row in late), default=0)},
            "is_draft": not report.content_hash}

    return _document_pdf("weekly", report.engagement, str(report), language, facts,
                         report.content_hash, report.frozen_at,
                         is_working_copy=report.is_working_copy)


def change_pdf(change: ChangeRequest, language: str) -> bytes:
    """The change order as both sides sign it, with their approvals; a draft carries a mark.

    Raises DeskError for a draft that could not come into force.
    """
    def facts() -> dict:
        shown = shown_facts(change)
        approvals = [
            (_("Supplier"), change.firm_approved_by, change.firm_approved_at),
            (_("Customer"), change.customer_approved_by, change.customer_approved_at)]
        results = [(_("Effort estimate"), change.new_estimate and change.new_estimate.version),
                   (_("Criteria"), change.new_criteria and change.new_criteria.version),
                   (_("Baseline of the plan"),
                    change.new_baseline and change.new_baseline.version),
                   (_("Quote"), change.new_quote and change.new_quote.version)]
        return {"change": change_labels.presented(shown), "is_draft": not change.content_hash,
                "state": change.get_state_display(), "rejection": change.rejection,
                "written_by": str(change.created_by), "created": _minute(change.created_at),
                "applied": _minute(change.applied_at), "result": change.result,
                "result_by": str(change.result_by or ""), "result_at": _minute(change.result_at),
                "approvals": [(side, str(who) if who else "", _minute(at))
                              for side, who, at in approvals],
                "results": [(label, version) for label, version in results if version]}

    return _document_pdf("change", change.engagement, change.code, language, facts,
                         change.content_hash, change.submitted_at,
                         is_working_copy=change.is_working_copy)


def timesheet_pdf(timesheet: Timesheet, language: str) -> bytes:
    """The confirmation of a month's time with the answers of both sides."""
    def facts() -> dict:
        return {"sheet": timesheet_labels.presented(timesheet.facts),
                "rejection": timesheet.rejection,
                "state": timesheet.get_state_display(), "confirmed_by": str(timesheet.confirmed_by),
                "confirmed_at": _minute(timesheet.confirmed_at),
                "answered_by": str(timesheet.answered_by or ""),
                "answered_at": _minute(timesheet.answered_at)}

    return _document_pdf("timesheet", timesheet.engagement, str(timesheet), language, facts,
                  timesheet.content_hash, timesheet.confirmed_at)


def _document_pdf(name: str, engagement: Engagement, number: str, language: str,
                  facts: Callable[[], dict], content_hash: str = "",
                  frozen_at: datetime | None = None, *, is_working_copy: bool = False) -> bytes:
    """The document in the theme of the time when it was frozen; a draft's in that of now.

    A working copy says so, with the day, on every page.
    """
    theme = in_language(theme_for(engagement.customer, frozen_at), language)
    with override(language):
        context = {**_frame(name, engagement, number, theme), **facts()}
        copy = working_copy() if is_working_copy else ""
    digest = content_hash or canonical.content_hash(context, canonical.SPACED)
    foot = " · ".join(filter(None, (number, copy, f"SHA-256 {digest[:HASH_SHOWN]}…")))
    context |= {"working_copy": copy, "page_foot": css_string(foot)}
    return render_pdf(f"documents/planning/{name}.html", context, language)


def _frame(name: str, engagement: Engagement, number: str, theme: dict) -> dict:
    """What every document carries: title, parties, project, header and footer (DOMAIN 9.1)."""
    profile, customer = CompanyProfile.current(), engagement.customer
    titles = {"minutes": _("Minutes of meeting"), "weekly": _("Weekly status report"),
              "change": _("Change order"), "timesheet": _("Timesheet confirmation")}
    before, between, after = _("Page {page} of {pages}").replace(
        "{pages}", "{page}").split("{page}")
    return {
        "title": titles[name], "number": number, "theme": theme,
        **{key: css_string(text)
           for key, text in page_headers(theme, f"{titles[name]} · {number}").items()},
        "page_before": before, "page_between": between, "page_after": after,
        "supplier": {"name": localized(profile.name, profile.name_en)},
        "customer": {"name": customer.localized_name}, "is_draft": False,
        "project": {"code": engagement.code, "name": engagement.localized_name,
                    "contract": engagement.contract_number},
        "is_practice": engagement.has_practice_data,
        "practice_words": _("PRACTICE DATA – NOT EVIDENCE")}


def _minute(at: datetime | None) -> str:
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M") if at else ""
