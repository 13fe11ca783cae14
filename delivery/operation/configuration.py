"""The documentation of the settings, written from their declarations; a check that finds typos."""

import os
from itertools import groupby
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.environment import FROM_FILE, SETTINGS, Setting, unknown_variables

DOCS = Path(settings.BASE_DIR) / "docs"
FILES = {"en": DOCS / "configuration.md", "zh-hans": DOCS / "configuration.zh-CN.md"}
PLACEHOLDER = "CHANGE-ME"
TYPES = {bool: gettext_lazy("true or false"), int: gettext_lazy("whole number"),
         float: gettext_lazy("decimal number"), str: gettext_lazy("text"),
         list: gettext_lazy("list, separated by commas")}


def documents() -> dict[Path, str]:
    """The text of each file."""
    return {path: _document(language) for language, path in FILES.items()}


def _document(language: str) -> str:
    with translation.override(language):
        parts = ["# " + _("Configuration"), _(
            "Written by `manage.py regenerate` from the settings themselves. Every variable has "
            "a default. What portal and workers read may also be given as `NAME_FILE`, the path of "
            "a file that holds the value. A value that cannot be understood stops the start with a "
            "sentence naming the variable; `manage.py check` names variables that begin with "
            "`DESK_` and are no setting.")]
        head = " | ".join((_("Variable"), _("Type"), _("Default"), _("Meaning")))
        for title, rows in groupby(SETTINGS.values(), key=lambda row: row.section):
            parts.append("## " + _(title))
            parts.append("\n".join([f"| {head} |", "|---|---|---|---|", *map(_row, rows)]))
        return "\n\n".join(parts) + "\n"


def _row(row: Setting) -> str:
    kind = (" / ".join(f"`{choice}`" for choice in row.choices) if row.choices
            else str(TYPES[row.type]))
    return f"| `{row.name}` | {kind} | {_default(row)} | {_(row.meaning)} |"


def _default(row: Setting) -> str:
    if not row.default:
        return "–"
    return _(row.default) if row.is_described else f"`{row.default}`"


def check_placeholders(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """An error for every setting that still holds the example file's value (`check --deploy`)."""
    return [checks.Error(_("%(name)s still holds %(text)s of the example file.") % {
        "name": name, "text": PLACEHOLDER}, hint=_(
            "Set a value of your own; docs/operation.md says how each secret is made."),
        id="desk.E001") for name in sorted(SETTINGS) if _holds_placeholder(name)]


def _holds_placeholder(name: str) -> bool:
    file = os.environ.get(name + FROM_FILE)
    text = Path(file).read_text(encoding="utf-8") if file else os.environ.get(name, "")
    return PLACEHOLDER in text


def check_names(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """A warning for every variable that looks like a setting and is none."""
    return [checks.Warning(_("%(name)s is set, but there is no such setting.") % {"name": name},
                           hint=_("docs/configuration.md lists all of them."), id="desk.W001")
            for name in unknown_variables(os.environ)]
