"""How often an address may ask for something, counted over all processes."""

import time

from django.core.cache import cache


def count_request(purpose: str, address: str, seconds: int) -> int:
    """How many there were with this one in the current span of so many seconds; 0 while the cache
    is down or cannot tell."""
    key = _key(purpose, address, seconds)
    try:
        cache.add(key, 0, timeout=seconds)
        count = cache.incr(key)
        cache.touch(key, seconds)  # counting sets the default in some caches
        return count
    except ValueError:  # it expired in between, or the cache is unreachable
        return 0


def requests_so_far(purpose: str, address: str, seconds: int) -> int:
    """The same without counting."""
    return cache.get(_key(purpose, address, seconds), 0)


def _key(purpose: str, address: str, seconds: int) -> str:
    return f"{purpose}:{address}:{int(time.time()) // seconds}"
