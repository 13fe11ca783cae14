"""Every sign-in by a page is in the list of its person."""

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver

from engagements.services.sign_ins import remember_sign_in


@receiver(user_logged_in)
def signed_in(sender, request, user, **_kwargs) -> None:
    if request is not None:
        remember_sign_in(request=request, user=user)
