"""The calendar that programs subscribe to; its address is the key."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.translation import override
from django.views.decorators.http import require_GET

from engagements.models import ApiToken
from engagements.web.token_authentication import note_use


@login_not_required
@require_GET
def feed(request, key):
    """404 for a key that is unknown, revoked, expired or of another scope."""
    from delivery.planning.plan.calendar_feed import calendar_of  # its library is for this alone

    token = ApiToken.objects.in_force().with_key(key).filter(
        scope=ApiToken.Scope.CALENDAR).select_related("owner").first()
    if token is None:
        raise Http404
    note_use(token, request.META.get("REMOTE_ADDR") or None)
    token.owner.token = token
    asked = request.GET.get("lang")
    with override(asked if asked in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE):
        body = calendar_of(token.owner, timezone.now())
    return HttpResponse(body, content_type="text/calendar; charset=utf-8", headers={
        "Content-Disposition": 'inline; filename="delivery-plans.ics"'})
