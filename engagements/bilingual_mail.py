"""E-mails in the reader's language, or in both where it is not known: as plain text and as HTML
that is made of it."""

from collections.abc import Callable
from email.headerregistry import Address
from email.utils import parseaddr

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import override

from engagements.models import User

_senders: list[Callable[[], str]] = []
_chosen: list[Callable[[int], str]] = []
BETWEEN = "\n\n" + "-" * 20 + "\n\n"
LONGEST_SUBJECT = 200


def register_sender(found: Callable[[], str]) -> None:
    """Say where the firm's name is found, in the active language; "" stands for none."""
    _senders.append(found)


def _firm() -> str:
    return next(filter(None, (found() for found in _senders)), "")


def sender() -> str:
    """The address of the settings, with the firm's name where it has none of its own."""
    name, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    return str(Address(name or _firm() or _("Delivery Desk"), addr_spec=address))


def register_chosen_language(found: Callable[[int], str]) -> None:
    """Say where a person's choice of a language for e-mails is found, by the person's key; ""
    stands for none."""
    _chosen.append(found)


def chosen_language(user_id: int) -> str:
    """The language that a person chose for e-mails; "" for one who chose none."""
    return next(filter(None, (found(user_id) for found in _chosen)), "")


def send_mail(*, to: User, subject: Callable[[], str], paragraphs: Callable[[], list[str]],
              language: str = "", attachments: list[tuple[str, bytes, str]] | None = None) -> None:
    """Send one e-mail; both functions are asked once in each language. It begins with the reader's
    name and ends with the firm's.

    Args:
        language: the reader's; both, Chinese first, if left out.
        subject: without the product's name, which is put before it.
        paragraphs: plain text; lines stay lines, addresses become links.
        attachments: name, content and kind of each file.
    Raises:
        what the e-mail backend raises: SMTPException, OSError, ValueError.
    """
    subjects, parts = [], []
    for code in [language] if language else [code for code, _name in settings.LANGUAGES]:
        with override(code):
            subjects.append(f"[{_('Delivery Desk')}] {subject()}")
            parts.append({"language": code,
                          "paragraphs": [
                _("Dear %(name)s,") % {"name": to.localized_name}, *paragraphs(),
                *filter(None, [_firm()])]})
    message = EmailMultiAlternatives(
        subject=" / ".join(subjects)[:LONGEST_SUBJECT], to=[to.email], from_email=sender(),
        headers={"Auto-Submitted": "auto-generated"},  # RFC 3834: nobody's absence answers it
        body=BETWEEN.join("\n\n".join(part["paragraphs"]) for part in parts) + "\n")
    for name, content, kind in attachments or []:
        message.attach(name, content, kind)
    message.attach_alternative(render_to_string("engagements/mail.html", {
        "parts": parts, "subject": message.subject}), "text/html")
    message.send()
