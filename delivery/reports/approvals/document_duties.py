"""Who writes, reviews and approves a document: three people, or two where the firm says so.

Whoever alone measured what a test report judges neither reviews nor approves it.
"""

from collections.abc import Mapping
from dataclasses import replace

from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from assessments.models import CriteriaSet, Verdict
from delivery.reports.approvals.approval_steps import chain_of, is_for
from delivery.reports.models import ApprovalTurn, Document, Step
from engagements import duties
from engagements.duties import Duty

OF_ACTION = {Step.Action.REVIEW: Duty.REVIEWER, Step.Action.APPROVE: Duty.APPROVER}


def sole_tester(document: Document) -> int | None:
    """The key of the one person who started every judged run of a test report, or stored its file;
    None where several did."""
    if document.kind != Document.Kind.TEST_REPORT:
        return None
    newest = dict(Verdict.objects.filter(
        criterion__criteria_set__engagement=document.engagement_id,
        criterion__criteria_set__state=CriteriaSet.State.SIGNED).order_by("pk").values_list(
            "criterion", Coalesce("measurement__job__created_by",
                                  "measurement__artifact__uploaded_by")))
    testers = {*newest.values()} - {None}
    return testers.pop() if len(testers) == 1 else None


def _signed_by(document: Document) -> Mapping[Duty, set]:
    reviews = [turn for turn in document.turns.all() if turn.action == Step.Action.REVIEW]
    return {Duty.AUTHOR: {document.created_by_id, document.submitted_by_id},
            Duty.REVIEWER: {document.reviewed_by_id, *(turn.done_by_id for turn in reviews)},
            Duty.APPROVER: {document.issued_by_id}}


def _done_by(document: Document) -> Mapping[Duty, set]:
    return {**_signed_by(document), Duty.TESTER: {sole_tester(document)}}


def _steps(document: Document) -> list[duties.Step]:
    """Those of the way that it is on; of a draft, those of its kind's chain."""
    turns = list(document.turns.all()) or [
        ApprovalTurn(document=document, **step) for step in chain_of(document.kind)]
    return [duties.Step(OF_ACTION[turn.action], turn.localized_title,
                        lambda user, turn=turn: is_for(user, turn)) for turn in turns]


DUTIES = duties.register(duties.DutyRule(
    code="document", title=_("Documents"), done_by=_done_by, steps=_steps, is_settable=True))
SIGNATURES = replace(DUTIES, done_by=_signed_by)  # the same, whoever measured
