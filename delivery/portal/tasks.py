"""Celery tasks of pages that nobody is signed in to."""

from celery import shared_task

from delivery.portal.invitations.mail import send_invitation
from delivery.portal.invitations.services import SEND_INVITATION
from delivery.portal.password_reset.mail import send_link
from delivery.portal.password_reset.views import SEND_LINK


@shared_task(name=SEND_LINK)
def send_password_link(user_id: int) -> None:
    """Mail a person the link to a new password; who has none so far, the invitation once more."""
    send_link(user_id)
    send_invitation(user_id)


@shared_task(name=SEND_INVITATION)
def send_invitation_link(user_id: int) -> None:
    """Mail an invited person the link to their first password."""
    send_invitation(user_id)
