"""The e-mail with the link; in both languages, since nobody is signed in to say which."""

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.utils.translation import override

from engagements.models import User

LANGUAGES = ("zh-hans", "en")


def send_link(user_id: int) -> None:
    """Mail the link to a person who may have one; it works once and for an hour."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not user.email or not user.has_usable_password():
        return
    EmailMessage(subject=" / ".join(_in_each(_subject)), to=[user.email],
                 body="\n\n".join(_in_each(lambda: _body(user, _link(user))))).send()


def _in_each(text) -> list[str]:
    found = []
    for language in LANGUAGES:
        with override(language):
            found.append(text())
    return found


def _subject() -> str:
    return f"[{_('Delivery Desk')}] {_('A new password')}"


def _body(user: User, link: str) -> str:
    return _("Somebody, probably you, asked for a new password for “%(name)s”. Open this link "
             "within an hour to choose one:\n%(link)s\nIf it was not you, do nothing: the old "
             "password stays.") % {"name": user.username, "link": link}


def _link(user: User) -> str:
    return settings.PUBLIC_URL.rstrip("/") + reverse("portal:password_choice", kwargs={
        "uidb64": urlsafe_base64_encode(force_bytes(user.pk)),
        "token": default_token_generator.make_token(user)})
