"""The e-mail with the link; in the language that the person chose, else in both."""

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from engagements.bilingual_mail import chosen_language, send_mail
from engagements.models import User
from engagements.queries import projects_of


def send_link(user_id: int) -> None:
    """Mail the link to a person who may have one; it works once and for an hour."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not user.email or not user.has_usable_password():
        return
    send_mail(to=user, subject=lambda: _("A new password"),
              paragraphs=lambda: [_body(user, _link(user)), *projects_of(user)],
              language=chosen_language(user.pk))


def _body(user: User, link: str) -> str:
    return _("Somebody, probably you, asked for a new password for “%(name)s”. Open this link "
             "within an hour to choose one:\n%(link)s\nIf it was not you, do nothing: the old "
             "password stays.") % {"name": user.username, "link": link}


def _link(user: User) -> str:
    return settings.PUBLIC_URL.rstrip("/") + reverse("portal:password_choice", kwargs={
        "uidb64": urlsafe_base64_encode(force_bytes(user.pk)),
        "token": default_token_generator.make_token(user)})
