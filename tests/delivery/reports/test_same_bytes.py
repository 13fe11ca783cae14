"""The same snapshot is the same file: in another process, on another day, in another place."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from delivery.reports import registry, services
from engagements.models import Role

PROGRAM = Path(__file__).with_name("rendered_apart.py")
PLACES = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8", "LANG": "C"},
    {"PYTHONHASHSEED": "4711", "TZ": "America/Los_Angeles", "LC_ALL": "C", "LANGUAGE": "zh_CN",
     "LANG": "zh_CN.UTF-8"}]
DAYS = ["0", "403.7"]


def issued_facts(engagement, people, kind: str) -> dict:
    """The snapshot of a draft under a number, as it is frozen at issuing."""
    draft = services.draft_document(actor=people[Role.ADMINISTRATOR], engagement=engagement,
                                    kind=kind)
    return {**draft.snapshot, "number": f"{kind}-EP2501-20250625-001", "is_draft": False}


def files(snapshots: Path, days: str, place: dict[str, str]) -> dict[str, str]:
    """"kind language format" to SHA-256, rendered by a process of its own."""
    folder = snapshots.parent / f"apart-{days}"  # its figures are drawn anew
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(snapshots), days, str(folder)], check=True, text=True,
        stdout=subprocess.PIPE, cwd=settings.BASE_DIR,
        env={**environment, "PYTHONPATH": str(settings.BASE_DIR), **place})
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


def compared(engagement, people, folder: Path, kinds: list[str]) -> dict[str, str]:
    snapshots = folder / "snapshots.json"
    snapshots.write_text(json.dumps([issued_facts(engagement, people, kind) for kind in kinds]),
                         "utf-8")
    first, second = (files(snapshots, days, place)
                     for days, place in zip(DAYS, PLACES, strict=True))
    assert first == second
    return first


def test_a_criteria_sheet_is_the_same_everywhere(delivered, people, tmp_path):
    """PDF and workbook in both languages; all kinds are compared in the slow tests."""
    assert set(compared(delivered, people, tmp_path, ["AC"])) == {
        f"AC {language} {form}" for language in ("zh-hans", "en") for form in ("pdf", "xlsx")}


@pytest.mark.slow
def test_every_file_of_every_kind_is_the_same_everywhere(delivered, people, tmp_path):
    services.save_identity(actor=people[Role.ADMINISTRATOR], customer=delivered.customer,
                           colour="#0a5c36", cover="band", header_zh="某单位")
    kinds = [kind.code for kind in registry.all_kinds()]
    found = compared(delivered, people, tmp_path, kinds)
    assert {name.split()[2] for name in found} == {"pdf", "xlsx", "docx"}
    assert len(found) == sum(2 * len(registry.get(kind).formats) for kind in kinds)
    assert len(set(found.values())) == len(found)
