"""Stored texts that exist in Chinese and in English."""

from django.utils.translation import get_language


def localized(chinese: str, english: str) -> str:
    """The text in the active language; Chinese where there is no English."""
    return english if english and (get_language() or "").startswith("en") else chinese
