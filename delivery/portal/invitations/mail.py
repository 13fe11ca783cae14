"""The e-mail with the link of an invitation, in both languages: nobody knows the reader's yet."""

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.sign_on.settings import LOCAL_LOGIN
from engagements.bilingual_mail import send_mail
from engagements.models import User
from engagements.queries import projects_of

VALID_DAYS = 7
SALT = "portal.invitation"


def token_of(person: User) -> str:
    """What the link holds; it ends after VALID_DAYS, and once a password is chosen."""
    return signing.dumps(person.pk, salt=SALT)


def invited_person(token: str) -> User | None:
    """Whose link it is; None for one that was used, is too old, or was never made."""
    try:
        pk = signing.loads(token, salt=SALT, max_age=VALID_DAYS * 86400)
    except signing.BadSignature:
        return None
    person = User.objects.filter(pk=pk).first()
    return person if person and person.is_awaited else None


def send_invitation(user_id: int) -> None:
    """Mail the link to a person who has chosen no password so far."""
    person = User.objects.filter(pk=user_id).first()
    if person is None or not person.email or not person.is_awaited:
        return
    send_mail(to=person, subject=lambda: _("Your account"),
              paragraphs=lambda: [_body(person), *projects_of(person)])


def _body(person: User) -> str:
    root = settings.PUBLIC_URL.rstrip("/")
    if not LOCAL_LOGIN:
        return _("An account was created for you. Sign in with the account of your organisation:\n"
                 "%(link)s") % {"link": root + reverse("login")}
    return _("An account was created for you; your log-in name is “%(name)s”. Open this link "
             "within %(days)d days to choose a password:\n%(link)s") % {
        "name": person.username, "days": VALID_DAYS,
        "link": root + reverse("portal:invitation", args=[token_of(person)])}
