"""Who makes an effort estimate never approves it."""

from collections.abc import Mapping

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from delivery.planning.models import EffortEstimate
from engagements import duties
from engagements.access import Can, allowed
from engagements.duties import Duty


def _done_by(estimate: EffortEstimate) -> Mapping[Duty, set]:
    return {Duty.AUTHOR: {estimate.created_by_id}, Duty.APPROVER: {estimate.approved_by_id}}


def _steps(_estimate: EffortEstimate) -> list[duties.Step]:
    return [duties.Step(Duty.APPROVER, gettext("Approve"),
                        lambda user: allowed(user, Can.MANAGE))]


DUTIES = duties.register(duties.DutyRule(
    code="estimate", title=_("Effort estimates"), done_by=_done_by, steps=_steps))
