"""Addresses of pages by route and plain arguments, each looked up once.

A page has a hundred links, nearly all of which another page has shown before.
"""

from functools import lru_cache

from django.conf import settings
from django.urls import get_script_prefix, get_urlconf, reverse


def address(name: str, *arguments: str | int) -> str:
    """As `reverse`; raises NoReverseMatch as that does."""
    return _address(get_urlconf() or settings.ROOT_URLCONF, get_script_prefix(), name,
                    tuple(map(str, arguments)))


@lru_cache(maxsize=8192)
def _address(urlconf: str, _prefix: str, name: str, arguments: tuple[str, ...]) -> str:
    return reverse(name, urlconf, args=arguments)
