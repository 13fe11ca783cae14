"""Who writes, reviews and approves a document: three people, or two where the firm says so."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from delivery.reports.approvals.approval_steps import chain_of, is_for
from delivery.reports.models import ApprovalTurn, Document, Step
from engagements import duties
from engagements.duties import Duty

OF_ACTION = {Step.Action.REVIEW: Duty.REVIEWER, Step.Action.APPROVE: Duty.APPROVER}


def _done_by(document: Document) -> Mapping[Duty, set]:
    reviews = [turn for turn in document.turns.all() if turn.action == Step.Action.REVIEW]
    return {Duty.AUTHOR: {document.created_by_id, document.submitted_by_id},
            Duty.REVIEWER: {document.reviewed_by_id, *(turn.done_by_id for turn in reviews)},
            Duty.APPROVER: {document.issued_by_id}}


def _steps(document: Document) -> list[duties.Step]:
    """Those of the way that it is on; of a draft, those of its kind's chain."""
    turns = list(document.turns.all()) or [
        ApprovalTurn(document=document, **step) for step in chain_of(document.kind)]
    return [duties.Step(OF_ACTION[turn.action], turn.localized_title,
                        lambda user, turn=turn: is_for(user, turn)) for turn in turns]


DUTIES = duties.register(duties.DutyRule(
    code="document", title=_("Documents"), done_by=_done_by, steps=_steps, is_settable=True))
