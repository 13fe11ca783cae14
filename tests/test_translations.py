"""Both catalogues hold every string of the code and templates, none fuzzy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polib
import pytest
from django.conf import settings

SOURCES = ("engagements", "workers", "assessments", "delivery", "toolreaders", "templates",
           "locale")
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|%[sd]")


@pytest.fixture(scope="module")
def catalogues(tmp_path_factory) -> dict[str, polib.POFile]:
    """Fresh catalogues: what makemessages extracts, merged with the translations we have."""
    copy = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(Path(settings.BASE_DIR) / name, copy / name)
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(Path(settings.BASE_DIR) / name, copy)
    subprocess.run(
        [sys.executable, "manage.py", "makemessages", "-l", "zh_Hans", "-l", "en",
         "--no-location", "--no-obsolete"],
        cwd=copy, check=True, capture_output=True,
        env={**os.environ, "DESK_VAR_DIR": str(copy / "var")})
    return {language: polib.pofile(str(copy / "locale" / language / "LC_MESSAGES" / "django.po"))
            for language in ("zh_Hans", "en")}


@pytest.mark.parametrize("language", ["zh_Hans", "en"])
def test_every_string_is_translated(catalogues, language):
    missing = [entry.msgid for entry in catalogues[language] if not entry.translated()]
    assert missing == []


@pytest.mark.parametrize("language", ["zh_Hans", "en"])
def test_placeholders_survive_translation(catalogues, language):
    different = [
        entry.msgid for entry in catalogues[language] if not entry.msgid_plural
        and sorted(m.group(0) for m in PLACEHOLDER.finditer(entry.msgid))
        != sorted(m.group(0) for m in PLACEHOLDER.finditer(entry.msgstr))
    ]
    assert different == []
