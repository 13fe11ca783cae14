"""Logins, logouts and refused logins in the audit log (DOMAIN AR-11, AR-12)."""

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver

from engagements.audit import audit_log
from engagements.models import User


def _record(action: str, user: User, request) -> None:
    audit_log.record(actor=user, action=action, target=user,
                     data={"from": request.META.get("REMOTE_ADDR", "") if request else ""})


@receiver(user_logged_in)
def logged_in(sender, request, user, **_kwargs) -> None:
    _record("user.login", user, request)


@receiver(user_logged_out)
def logged_out(sender, request, user, **_kwargs) -> None:
    if user:
        _record("user.logout", user, request)


@receiver(user_login_failed)
def refused(sender, credentials, request=None, **_kwargs) -> None:
    """Only of names that exist: what strangers type is not kept, it may be a password."""
    user = User.objects.filter(username=str(credentials.get("username") or "")[:150]).first()
    if user:
        audit_log.record(actor=None, action="user.login_refused", target=user,
                         data={"from": request.META.get("REMOTE_ADDR", "") if request else ""})
