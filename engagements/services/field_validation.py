"""Django's validation of a row's fields as an InvalidInput that names each field."""

from collections.abc import Collection

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models

from engagements.errors import InvalidInput
from engagements.text.text_joining import in_turn, labelled


def validate_row(row: models.Model) -> None:
    """Raise InvalidInput where a field, or a name that has to be unique, does not fit."""
    try:
        row.full_clean()
    except ValidationError as error:
        raise InvalidInput(_sentence(row, error)) from error


def validate_fields(row: models.Model, names: Collection[str]) -> None:
    """Raise InvalidInput where one of these fields does not fit."""
    try:
        row.clean_fields(exclude={field.name for field in row._meta.fields} - set(names))
    except ValidationError as error:
        raise InvalidInput(_sentence(row, error)) from error


def _sentence(row: models.Model, error: ValidationError) -> str:
    return in_turn(
        " ".join(sentences) if name == NON_FIELD_ERRORS
        else labelled(row._meta.get_field(name).verbose_name, " ".join(sentences))
        for name, sentences in error.message_dict.items())
