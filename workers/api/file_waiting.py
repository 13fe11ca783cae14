"""A hook for REST endpoints that go on with what was read from a file."""

from collections.abc import Callable

from workers.artifacts.reading_state import wait_until_read
from workers.models import Artifact


def after_reading(perform_create: Callable) -> Callable:
    """The hook, once the files among the request's fields have been read by a worker."""
    def perform(self, serializer):
        wait_until_read(*(value for value in serializer.validated_data.values()
                          if isinstance(value, Artifact)))
        perform_create(self, serializer)

    return perform
