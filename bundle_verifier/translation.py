"""Sentences in the language of whoever asks: the portal's, or that of the verifier's terminal."""

from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from pathlib import Path
from typing import Protocol

CATALOGUE = "locale/zh_Hans/LC_MESSAGES/django.mo"


class Translator(Protocol):
    """What translates; Django's module `translation` does, in the active language."""

    def gettext(self, message: str) -> str: ...

    def ngettext(self, singular: str, plural: str, number: int) -> str: ...


_translator: Translator = NullTranslations()


def use(translator: Translator) -> None:
    """Translate by this one from now on, in the whole process."""
    global _translator
    _translator = translator


def chinese() -> Translator:
    """The catalogue that is packed with the verifier or lies beside the source; else English."""
    for place in (files("bundle_verifier"), Path(__file__).parents[1]):
        if (catalogue := place / CATALOGUE).is_file():
            with catalogue.open("rb") as stream:
                return GNUTranslations(stream)
    return NullTranslations()


def gettext(message: str) -> str:
    return _translator.gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    return _translator.ngettext(singular, plural, number)
