"""The shared cache holds nothing that a page needs: while it cannot be reached, or its disk is
full, it answers as one that is empty."""

import logging
import time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.filebased import FileBasedCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


class OptionalCache(BaseCache):
    """What stands before a cache of Django's; `incr` raises ValueError as for a missing key."""

    pause_seconds = 0.0  # how long it is not asked again after a failure
    asked_from = 0.0  # of this process, as time.monotonic()

    def get(self, key, default=None, version=None):
        return self._asked("get", default, key, default, version)

    def get_many(self, keys, version=None):
        return self._asked("get_many", {}, keys, version)

    def add(self, key, value, timeout=DEFAULT_TIMEOUT, version=None):
        return self._asked("add", False, key, value, timeout, version)

    def set(self, key, value, timeout=DEFAULT_TIMEOUT, version=None):
        return self._asked("set", None, key, value, timeout, version)

    def touch(self, key, timeout=DEFAULT_TIMEOUT, version=None):
        return self._asked("touch", False, key, timeout, version)

    def delete(self, key, version=None):
        return self._asked("delete", False, key, version)

    def incr(self, key, delta=1, version=None):
        count = self._asked("incr", None, key, delta, version)
        if count is None:
            raise ValueError("the cache cannot be reached")
        return count

    def _asked(self, name: str, otherwise: Any, *arguments):
        if time.monotonic() < type(self).asked_from:
            return otherwise
        try:
            return getattr(super(), name)(*arguments)
        except (RedisError, OSError) as error:
            type(self).asked_from = time.monotonic() + self.pause_seconds
            logger.warning("cache: %s failed, pages go on without it: %s", name, error)
            return otherwise


class OptionalRedisCache(OptionalCache, RedisCache):
    """Redis. A page asks a dozen times, and a host that is silent takes seconds each time."""

    pause_seconds = 30.0


class OptionalFileCache(OptionalCache, FileBasedCache):
    """Files, for an installation on one host without Redis."""
