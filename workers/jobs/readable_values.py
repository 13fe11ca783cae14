"""What of parameters and commands a person may read: secrets in them only who gave them."""

from collections.abc import Mapping
from typing import Any

from engagements.models import User
from toolreaders.masking import mask_tree


def readable(value: Any, *, user: User, author_id: int | None) -> Any:
    """The value whole for its author; for everybody else with what looks like a secret masked."""
    return value if user.pk == author_id else mask_tree(value)


def without_secrets(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that hold nothing that looks like a secret: for forms to begin with."""
    masked = mask_tree(dict(values))
    return {name: value for name, value in values.items() if masked[name] == value}
