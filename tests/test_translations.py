"""The Chinese catalogue holds every string of the code and templates, none fuzzy."""

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.utils.translation import gettext, ngettext, override

SOURCES = ("engagements", "workers", "assessments", "delivery", "bundle_verifier", "toolreaders",
           "templates", "locale")
CATALOGUE = "locale/{}/LC_MESSAGES/django.po"
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|%[sd]")


@pytest.fixture(scope="module")
def chinese(tmp_path_factory) -> polib.POFile:
    """A fresh catalogue: what makemessages extracts, merged with the translations we have."""
    copy = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(Path(settings.BASE_DIR) / name, copy / name)
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(Path(settings.BASE_DIR) / name, copy)
    subprocess.run(
        [sys.executable, "manage.py", "makemessages", "-l", "zh_Hans", "--no-location",
         "--no-obsolete"],
        cwd=copy, check=True, capture_output=True,
        env={**os.environ, "DESK_VAR_DIR": str(copy / "var")})
    return polib.pofile(str(copy / CATALOGUE.format("zh_Hans")))


def test_every_string_is_translated(chinese):
    missing = [entry.msgid for entry in chinese if not entry.translated()]
    assert missing == [], "run: python manage.py regenerate, and translate what is new"


def test_placeholders_survive_translation(chinese):
    different = [
        entry.msgid for entry in chinese if not entry.msgid_plural
        and sorted(m.group(0) for m in PLACEHOLDER.finditer(entry.msgid))
        != sorted(m.group(0) for m in PLACEHOLDER.finditer(entry.msgstr))
    ]
    assert different == []


def test_english_catalogue_holds_only_what_differs_from_the_code(chinese):
    english = polib.pofile(str(Path(settings.BASE_DIR) / CATALOGUE.format("en")))
    assert [entry.msgid for entry in english if entry.msgstr == entry.msgid] == []
    assert {entry.msgid for entry in english} - {entry.msgid for entry in chinese} == set()


def test_english_is_what_the_code_says():
    with override("en"):
        assert gettext("Quotes") == "Quotes"
        assert ngettext("%(n)d day", "%(n)d days", 1) == "%(n)d day"
        assert ngettext("%(n)d day", "%(n)d days", 2) == "%(n)d days"
        assert gettext("pace") == "frequency"


NAMES = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "pgettext",
         "pgettext_lazy", "npgettext", "npgettext_lazy"}


@cache
def modules() -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text()))
            for part in ("assessments", "delivery", "engagements", "workers")
            for path in (Path(settings.BASE_DIR) / part).rglob("*.py")]


def test_no_call_of_gettext_is_unseen_by_the_extraction(chinese):
    """`makemessages` sees none within an f-string."""
    known = {entry.msgid for entry in chinese}
    calls = [(path.name, node.lineno, node.args["pgettext" in node.func.id]) for path, tree in
             modules() for node in ast.walk(tree) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Name) and node.func.id in NAMES and node.args]
    texts = {(name, line, text.value) for name, line, text in calls
             if isinstance(text, ast.Constant) and text.value}
    assert len(texts) > 1000, "the look through the modules found nothing"
    assert {row for row in texts if row[2] not in known} == set()


def test_no_name_of_gettext_is_unknown_to_the_extraction():
    """`makemessages` finds strings by the name of the function around them: under another name
    they are never translated."""
    names = {(path.name, alias.asname) for path, tree in modules() for node in ast.walk(
        tree) if isinstance(node, ast.ImportFrom)
        and node.module == "django.utils.translation" for alias in node.names
        if "gettext" in alias.name and alias.asname}
    assert names, "the look through the modules found nothing"
    assert {(name, alias) for name, alias in names if alias not in NAMES} == set()
