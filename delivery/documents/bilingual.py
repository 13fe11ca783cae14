"""Texts of a snapshot in both languages, so that both files come from one set of facts."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import override

from engagements.models import Agent, User
from engagements.models.agent import credited
from engagements.text.printable_text import printable, printable_facts

LANGUAGES = ("zh-hans", "en")


def both(text: Callable[[], Any]) -> dict[str, str]:
    """The text that `text()` gives in each language."""
    found = {}
    for language in LANGUAGES:
        with override(language):
            found[language] = str(text() or "")
    return found


def pair(chinese: str, english: str) -> dict[str, str]:
    """Two stored texts; Chinese where there is no English."""
    return {"zh-hans": chinese, "en": english or chinese}


def same(text: str) -> dict[str, str]:
    """A text that is not translated, such as a name or what a person wrote."""
    return dict.fromkeys(LANGUAGES, text)


def named(person: User | None, agent: Agent | None = None) -> dict[str, str]:
    """A person's name as either language prints it, and the agent through which it was done, if it
    was one; empty for nobody."""
    if person and agent:
        return both(lambda: credited(person.localized_name, agent))
    return pair(person.get_full_name(), person.full_name_en) if person else same("")


def in_language(facts: Any, language: str) -> Any:
    """A copy of a snapshot in which every bilingual text is the text of one language.

    Its texts are printable: older snapshots hold what was typed.
    """
    if isinstance(facts, str):
        return printable(facts)
    if isinstance(facts, dict):
        if set(facts) == set(LANGUAGES):
            return printable_facts(facts[language])
        return {key: in_language(value, language) for key, value in facts.items()}
    if isinstance(facts, list):
        return [in_language(value, language) for value in facts]
    return facts


def instant(at: datetime | None) -> str:
    """YYYY-MM-DD HH:mm:ss in Asia/Shanghai; empty for none (DOMAIN 12, AR-17)."""
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M:%S") if at else ""
