"""The hooks of REST endpoints whose rows are written by services.

Each takes the service, the keyword under which it expects the row, and the names of declared
fields that are not handed on.
"""

from collections.abc import Callable
from typing import Any


def creating(service: Callable[..., Any], *without: str) -> Callable:
    """`perform_create` by a service."""
    def perform_create(self, serializer):
        serializer.instance = service(actor=self.request.user, **_fields(serializer, without))

    return perform_create


def updating(service: Callable[..., Any], row: str, *without: str) -> Callable:
    """`perform_update` by a service."""
    def perform_update(self, serializer):
        serializer.instance = service(actor=self.request.user, **{row: serializer.instance},
                                      **_fields(serializer, without))

    return perform_update


def destroying(service: Callable[..., Any], row: str) -> Callable:
    """`perform_destroy` by a service."""
    def perform_destroy(self, instance):
        service(actor=self.request.user, **{row: instance})

    return perform_destroy


def _fields(serializer, without: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in serializer.validated_data.items()
            if name not in without}
