"""Closing, cancelling, losing and reopening an engagement."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from engagements import serializers, services
from engagements.access import Can, require
from engagements.closing import TRANSITIONS, EngagementMove, conditions_of
from engagements.models import Engagement
from engagements.moves import offered_moves
from engagements.web.form_actions import attempt, state_reached
from engagements.web.row_pages import posted, visible_engagement

SERVICES = {
    EngagementMove.CLOSE: (services.close_engagement, serializers.CloseEngagementSerializer),
    EngagementMove.CANCEL: (services.cancel_engagement, serializers.CancelSerializer),
    EngagementMove.LOSE: (services.lose_engagement, serializers.LoseSerializer),
    EngagementMove.REOPEN: (services.reopen_engagement, serializers.ReopenSerializer),
}


@require_GET
def ending(request, code):
    """What is open still, and the ways in which the engagement ends or goes on."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.VIEW_INTERNAL, engagement)
    checks = [] if engagement.has_ended else conditions_of(engagement)
    return render(request, "engagements/ending.html", {
        "engagement": engagement, "checks": checks, "active": "overview",
        "loss_causes": Engagement.LossCause.choices,
        "can_close": all(check.is_met for check in checks),
        "moves": offered_moves(request.user, TRANSITIONS, engagement)})


@require_POST
def end(request, code, move):
    engagement = visible_engagement(request, code)
    if move not in SERVICES:
        raise Http404
    service, takes = SERVICES[move]
    made = attempt(request, lambda: service(
        actor=request.user, engagement=engagement, **posted(request, takes)),
        lambda: state_reached(engagement))
    return redirect("engagements:engagement" if made else "engagements:ending", code)
