"""E-mails in the reader's language, or in both where it is not known: as plain text and as HTML
that is made of it."""

from collections.abc import Callable

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import override

_chosen: list[Callable[[int], str]] = []
BETWEEN = "\n\n" + "-" * 20 + "\n\n"
LONGEST_SUBJECT = 200


def register_chosen_language(found: Callable[[int], str]) -> None:
    """Say where a person's choice of a language for e-mails is found, by the person's key; ""
    stands for none."""
    _chosen.append(found)


def chosen_language(user_id: int) -> str:
    """The language that a person chose for e-mails; "" for one who chose none."""
    return next(filter(None, (found(user_id) for found in _chosen)), "")


def send_mail(*, to: str, subject: Callable[[], str], paragraphs: Callable[[], list[str]],
              language: str = "") -> None:
    """Send one e-mail; both functions are asked once in each language.

    Args:
        language: the reader's; both, Chinese first, if left out.
        subject: without the product's name, which is put before it.
        paragraphs: plain text; lines stay lines, addresses become links.
    Raises:
        what the e-mail backend raises: SMTPException, OSError, ValueError.
    """
    subjects, parts = [], []
    for code in [language] if language else [code for code, _name in settings.LANGUAGES]:
        with override(code):
            subjects.append(f"[{_('Delivery Desk')}] {subject()}")
            parts.append({"language": code, "paragraphs": paragraphs()})
    message = EmailMultiAlternatives(
        subject=" / ".join(subjects)[:LONGEST_SUBJECT], to=[to],
        body=BETWEEN.join("\n\n".join(part["paragraphs"]) for part in parts) + "\n")
    message.attach_alternative(render_to_string("engagements/mail.html", {
        "parts": parts, "subject": message.subject}), "text/html")
    message.send()
