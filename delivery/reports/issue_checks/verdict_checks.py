"""Rules of documents that rest on criteria: signed, in force, and followed by every verdict."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.models import CriteriaSet
from assessments.verdicts.computation import compute
from delivery.reports.approvals.document_duties import DUTIES, SIGNATURES, sole_tester
from delivery.reports.facts.source import source_of
from delivery.reports.facts.waivers_and_omissions import issue_code
from delivery.reports.issue_checks.checks import page
from delivery.reports.models import Document
from delivery.reports.registry import Problem
from engagements.duties import missing_people
from engagements.models import User
from engagements.text.text_joining import following
from workers.artifacts.artifact_store import is_intact


def criteria_signed(document: Document) -> Iterator[Problem]:
    """The criteria are signed, and the draft shows the version that is in force."""
    criteria = source_of(document).criteria
    url = page("assessments:criteria", document)
    if criteria is None or criteria.state != CriteriaSet.State.SIGNED:
        yield Problem(_("The acceptance criteria are not signed."), url)
    elif document.snapshot["criteria"]["content_hash"] != criteria.content_hash:
        yield Problem(_("The draft shows other criteria than those in force; "
                        "refresh the data."), reverse("reports:document", args=[document.pk]))


def verdicts_follow(document: Document) -> Iterator[Problem]:
    """No verdict contradicts its raw files, and none that the draft shows is out of date."""
    by_criterion = {row["criterion"]: row for row in document.snapshot.get("metrics", [])}
    for criterion, verdict in source_of(document).judged:
        url = reverse("assessments:criterion", args=[criterion.pk])
        if verdict:
            yield from (Problem(text, url) for text in _contradictions(criterion, verdict))
        row = by_criterion.get(criterion.pk)
        if row and verdict and (row["outcome"], row["artifact"]) != (
                verdict.outcome, verdict.measurement.artifact_id if verdict.measurement else None):
            yield Problem(_("%(criterion)s: the draft does not show the "
                            "latest verdict; refresh the data.") % {"criterion": criterion},
                          reverse("reports:document", args=[document.pk]))


def _contradictions(criterion, verdict) -> list[str]:
    """A verdict whose raw file is missing or changed, or that no longer follows from it."""
    files = [criterion.baseline.artifact if criterion.baseline else None,
             verdict.measurement.artifact if verdict.measurement else None]
    damaged = [f.name for f in files if f and not is_intact(f)]
    if damaged:
        return [_("%(criterion)s: the raw file %(name)s is missing or its checksum differs.")
                % {"criterion": criterion, "name": name} for name in damaged]
    again = compute(criterion, verdict.measurement)
    if (again.outcome, again.reason) != (verdict.outcome, verdict.reason):
        return [_("%(criterion)s: the stored verdict no longer follows from "
                  "its raw files; judge it again.") % {"criterion": criterion}]
    return []


def third_party_stands(document: Document) -> Iterator[Problem]:
    """The report that the contract asks for is there, and the files of all are as they came."""
    engagement = document.engagement
    url = reverse("acceptance:third_party_reports", args=[engagement.code])
    reports = list(engagement.third_party_reports.in_force())
    terms = getattr(engagement, "acceptance_terms", None)
    if terms and terms.needs_third_party and not reports:
        yield Problem(_("The contract requires a test report of an accredited laboratory; "
                        "none is attached."), url)
    for report in reports:
        if not is_intact(report.artifact):
            yield Problem(_("%(report)s: its file is missing or was changed.")
                          % {"report": report}, url)


def conditions_recorded(document: Document) -> Iterator[Problem]:
    """Something is on record of the conditions under which the target was measured. What is
    lacking stands in the conclusion; a report that knows none of it says nothing."""
    facts = document.snapshot
    known, premises = facts.get("environment_cells") or {}, facts.get("conditions") or {}
    is_judged = any(row["artifact"] for row in facts.get("metrics", []))
    if is_judged and known.get("all") and known["target"] == known["all"] and (
            not premises.get("proven")):
        yield Problem(_("Nothing is on record of the target's environment or of what the compared "
                        "curves have in common: measure with jobs on a node whose software was "
                        "read, or compare the configurations of both runs."),
                      page("assessments:criteria", document))


def tested_by_another(document: Document) -> Iterator[Problem]:
    """Beside the one who alone measured there is somebody for each review and the approval."""
    tester = sole_tester(document)
    lacking = missing_people(DUTIES, document, None) if tester else []
    if lacking and len(lacking) > len(missing_people(SIGNATURES, document, None)):
        sentence = _("%(person)s alone measured what this report judges; who reviews or approves "
                     "it must be somebody else. Add such a person to the team, or have a run "
                     "judged that another one started.") % {"person": User.objects.get(pk=tester)}
        yield Problem(following(sentence, *lacking), page("engagements:team", document))


def no_severe_issue(document: Document) -> Iterator[Problem]:
    """An issue that is recorded as holding up the final acceptance is closed before it, or let
    pass by a waiver that the customer signed."""
    rows = list(document.engagement.project_issues.filter(
        closed_on=None, affects_final=True).order_by("number"))
    waived = document.engagement.blocker_waivers.codes_in_force(
        document.engagement) if rows else ()
    for issue in rows:
        if issue_code(issue) not in waived:
            yield Problem(_("%(issue)s holds up the final acceptance and is open.")
                          % {"issue": issue}, page("planning:control", document))
