"""Stops guessing of many people's passwords from one address, beside django-axes, which stops that
of one person's."""

from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import PermissionDenied
from django.dispatch import receiver

from engagements.web.address_limit import count_request, requests_so_far

PURPOSE = "login-failures"


class AddressLimitBackend:
    """Lets nobody in, knows nobody; refuses everybody from an address with too many failures."""

    def authenticate(self, request, **credentials):
        if request and requests_so_far(PURPOSE, _address(request), settings.LOGIN_PAUSE_SECONDS
                                       ) >= settings.LOGIN_ADDRESS_LIMIT:
            raise PermissionDenied


@receiver(user_login_failed)
def count_failure(sender, request=None, **_kwargs) -> None:
    if request:
        count_request(PURPOSE, _address(request), settings.LOGIN_PAUSE_SECONDS)


def _address(request) -> str:
    return request.META.get("REMOTE_ADDR", "")
