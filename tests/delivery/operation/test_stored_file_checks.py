"""Stored files read again: rot is found, named with what rests on it, and told to operators."""

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.utils import timezone

from delivery.notices.models import Notice
from delivery.operation import stored_file_checks
from delivery.operation.dependents import dependents_of
from delivery.operation.models import DamagedFile, FileRound
from delivery.reports.models import Document
from engagements.models import AuditEntry, Role
from workers.artifacts.artifact_store import store_file
from workers.models import Artifact

NOW = timezone.now()
MINUTE = timedelta(minutes=1)


def stored(engagement, name: str, content: bytes) -> Artifact:
    return store_file(stream=ContentFile(content), name=name, engagement=engagement)


def overwrite(artifact: Artifact, content: bytes) -> None:
    Path(artifact.file.path).write_bytes(content)


def scrub(language="en") -> str:
    out = StringIO()
    with pytest.raises(CommandError, match=r"^\d+ files are damaged\. Restore them from a backup"):
        call_command("scrub", language=language, no_color=True, stdout=out)
    return out.getvalue()


@pytest.fixture
def files(engagement) -> list[Artifact]:
    return [stored(engagement, f"{n}.log", b"%d" % n * 1000) for n in range(4)]


def test_the_command_names_changed_and_missing_files_and_reads_all(files, engagement):
    again = stored(engagement, "same-bytes.log", b"0" * 1000)
    overwrite(files[0], b"1" * 1000)
    Path(files[1].file.path).unlink()
    shown = scrub()
    assert f"{files[0].file.name}: changed\n" in shown
    assert f"{files[1].file.name}: missing\n  1.log (EP2501)\n" in shown
    assert "  0.log (EP2501)\n  same-bytes.log (EP2501)\n" in shown
    assert "4 files read" in shown  # the same bytes lie there once
    assert again.file.name == files[0].file.name
    assert set(DamagedFile.objects.values_list("name", "fault")) == {
        (files[0].file.name, "changed"), (files[1].file.name, "missing")}


def test_issued_documents_that_rest_on_a_file_are_named(delivered, people):
    author = people[Role.MANAGER]
    evidence = delivered.artifacts.get(name="train_npu.csv")
    issued = Document.objects.create(
        engagement=delivered, kind="TR", number="TR-1", state="issued", created_by=author,
        issued_at=NOW, content_hash="0" * 64, snapshot={"evidence": [{"id": evidence.pk}]})
    Document.objects.create(engagement=delivered, kind="TR", number="", state="draft",
                            created_by=author, snapshot=issued.snapshot)
    found = dependents_of(evidence.file.name)
    assert [(row.text, row.is_document) for row in found] == [
        ("train_npu.csv (EP2501)", False), (str(issued), True)]
    overwrite(evidence, b"rot")
    assert f"  issued document {issued}\n" in scrub()


def test_operators_are_told_once_and_the_page_shows_it(files, people, client):
    overwrite(files[2], b"")
    for _time in range(2):
        scrub()
    [notice] = Notice.objects.filter(recipient=people[Role.OPERATOR])
    assert (notice.event.kind, notice.event.path) == ("stored_file_damaged", "/operation/files/")
    assert not Notice.objects.filter(recipient=people[Role.MANAGER]).exists()
    client.force_login(people[Role.OPERATOR])
    page = client.get("/operation/files/").content.decode()
    assert files[2].file.name in page
    assert f"/artifacts/{files[2].pk}/" in page
    [row] = client.get("/api/v1/damaged-files/").json()["results"]
    assert (row["name"], row["fault"], row["dependents"][0]["text"]) == (
        files[2].file.name, "changed", "2.log (EP2501)")
    client.force_login(people[Role.MANAGER])
    assert client.get("/api/v1/damaged-files/").json()["results"] == []


def test_a_file_that_was_put_back_is_found_sound_within_the_hour(files):
    good = Path(files[0].file.path).read_bytes()
    overwrite(files[0], b"rot")
    scrub()
    overwrite(files[0], good)
    stored_file_checks.take_turn(now=timezone.now())
    assert DamagedFile.objects.open().count() == 1  # seen a moment ago
    stored_file_checks.take_turn(now=timezone.now() + timedelta(hours=1))
    assert not DamagedFile.objects.open().exists()
    assert list(AuditEntry.objects.filter(action__startswith="stored_file.").order_by(
        "pk").values_list("action", flat=True)) == ["stored_file.damage", "stored_file.heal"]


def test_the_clock_reads_at_the_set_rate_and_begins_anew_after_days(engagement, settings):
    settings.SCRUB_MB_PER_MINUTE, settings.SCRUB_DAYS = 1, 7
    names = sorted(stored(engagement, f"{n}", bytes([n]) * 2**20).file.name for n in range(1, 4))
    big = stored(engagement, "big", b"b" * 3 * 2**20).file.name
    order = sorted([*names, big])
    now, reached = NOW, []
    for _turn in range(20):
        if stored_file_checks.take_turn(now=now):
            walk = FileRound.objects.get()
            reached.append((walk.after, round((walk.next_at - now) / MINUTE)))
        now += MINUTE
    assert reached == [(name, 3 if name == big else 1) for name in order]
    walk = FileRound.objects.get()
    assert (walk.is_open, walk.files, walk.bytes) == (False, 4, 6 * 2**20)
    assert stored_file_checks.take_turn(now=NOW + timedelta(days=6)) == 0
    assert stored_file_checks.take_turn(now=NOW + timedelta(days=7, minutes=1)) == 2**20


def test_two_workers_do_not_walk_at_once(files, settings):
    settings.SCRUB_MB_PER_MINUTE = 300
    FileRound.objects.create(started_at=NOW, next_at=NOW, claimed_until=NOW + timedelta(hours=1))
    assert stored_file_checks.take_turn(now=NOW + MINUTE) == 0
    assert stored_file_checks.take_turn(now=NOW + timedelta(hours=2)) == 4000


def test_nothing_is_read_where_the_rate_is_nought(files, settings):
    settings.SCRUB_MB_PER_MINUTE = 0
    assert stored_file_checks.take_turn(now=NOW) == 0
    assert not FileRound.objects.exists()
