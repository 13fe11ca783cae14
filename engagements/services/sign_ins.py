"""Writes about where somebody is signed in."""

import time

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from engagements.audit import audit_log
from engagements.models import SignIn, User

SIGNED_IN_AT = "signed_in_at"  # in the session: when it began, seconds of the epoch
RENEWED_AT = "renewed_at"  # in the session: when its time began anew, seconds of the epoch


def remember_sign_in(*, request: HttpRequest, user: User) -> None:
    """Note whose the request's session is, from where; the session is saved first."""
    request.session[SIGNED_IN_AT] = request.session[RENEWED_AT] = int(time.time())
    request.session.save()
    SignIn.objects.update_or_create(
        session=Session.objects.get(pk=request.session.session_key),
        defaults={"user": user, "address": request.META.get("REMOTE_ADDR") or None,
                  "browser": request.headers.get("User-Agent", "")[:240]})


@transaction.atomic
def end_sign_ins(*, actor: User, sign_ins: list[SignIn]) -> int:
    """Sign these browsers of oneself out; how many there were."""
    own = Session.objects.filter(sign_in__user=actor, sign_in__in=sign_ins)
    count = own.count()
    own.delete()
    if count:
        audit_log.record(actor=actor, action="user.end_sign_ins", target=actor,
                         data={"count": count})
    return count


def end_sign_ins_of(person: User) -> int:
    """Sign a person out everywhere, inside the service that locks them out; how many browsers."""
    sessions = Session.objects.filter(sign_in__user=person)
    count = sessions.count()
    sessions.delete()
    return count
