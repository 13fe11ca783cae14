"""Old months of the audit log lie in files, chained to the log, and nothing of it is lost."""

import gzip
import io
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import override

from delivery.operation import audit_archiving, diagnosis, key_rotation
from delivery.operation.backup.stored_files import stored_files
from delivery.operation.backup.writing import write_backup
from delivery.portal.audit.log_check import check_log
from engagements.audit import audit_log, checkpoint
from engagements.errors import WrongState
from engagements.models import AuditArchive, AuditEntry, Customer, Engagement, Role
from tests.cached_fixtures import cached_fixture

NOW = datetime(2026, 6, 15, tzinfo=UTC)
DAYS = 40  # in the middle of June: April and what was before


@pytest.fixture
@cached_fixture
def entries(people):
    """Six entries of January, three of March, three of June; of a closed engagement."""
    customer = Customer.objects.create(name="甲")
    engagement = Engagement.objects.create(code="CLOSED", name="已结", customer=customer,
                                           state=Engagement.State.CLOSED)
    for month, count in ((1, 6), (3, 3), (6, 3)):
        at = datetime(2026, month, 10, tzinfo=UTC)
        with pytest.MonkeyPatch.context() as then:
            then.setattr(audit_log.timezone, "now", lambda at=at: at)
            for number in range(count):
                engagement.name = f"{month}-{number} 已结"
                engagement.save()
                audit_log.record(
                    actor=people[Role.MANAGER], action="engagement.update", target=engagement,
                    engagement=engagement, data={"share": 0.1 * number})
    return engagement


@pytest.fixture
def log(entries, monkeypatch):
    """The same, archived four at a time."""
    monkeypatch.setattr(audit_archiving, "MOST_ENTRIES", 4)
    return entries


def archived() -> list[AuditArchive]:
    return list(audit_archiving.archive_old(now=NOW, days=DAYS))


def verify(**options) -> tuple[bool, str]:
    out = io.StringIO()
    try:
        call_command("verify", audit=True, language="en", stdout=out, **options)
    except CommandError:
        return False, out.getvalue()
    return True, out.getvalue()


def test_a_file_per_month_in_parts_chained_to_each_other_and_to_the_log(log):
    before = {entry.pk: entry.entry_hash for entry in AuditEntry.objects.all()}
    first, second, third = archived()
    assert [(row.month.month, row.first_number, row.last_number) for row in (first, second, third)
            ] == [(1, 1, 4), (1, 5, 6), (3, 7, 9)]
    assert first.previous_hash == audit_log.FIRST_PREVIOUS_HASH
    assert (second.previous_hash, third.previous_hash) == (first.last_hash, second.last_hash)
    oldest = AuditEntry.objects.order_by("pk").first()
    assert (oldest.pk, oldest.previous_hash) == (10, third.last_hash)
    assert third.file.name == "audit/audit-2026-03-7-9.jsonl.gz"
    walked = []
    assert list(audit_log.findings(walked=walked.append)) == []
    assert {entry.pk: entry.entry_hash for entry in walked[:12]} == before
    assert list(audit_log.row_differences()) == []
    assert archived() == []
    assert {file.name: file.sha256 for file in stored_files()} == {
        row.file.name: row.sha256 for row in (first, second, third)}
    assert checkpoint.behind_archives().number == 9
    assert (check_log().finding, check_log().after) == (None, 9)


def test_off_by_default_and_said_by_the_command(log, settings):
    assert settings.AUDIT_DAYS == 0
    assert list(audit_archiving.archive_old(now=NOW)) == []
    with pytest.raises(CommandError):
        call_command("archive_audit")


def test_what_an_open_engagement_may_do_depends_on_its_entries_and_they_stay(log, people):
    Engagement.objects.filter(pk=log.pk).update(state=Engagement.State.ACCEPTED)
    assert archived() == []
    assert audit_archiving.waits_for(NOW, DAYS) == log
    out = io.StringIO()
    call_command("archive_audit", days=DAYS, stdout=out, language="en")
    assert "CLOSED" in out.getvalue()


def test_that_there_is_nothing_to_do_is_said(log):
    out = io.StringIO()
    call_command("archive_audit", days=36500, stdout=out, language="en")
    assert out.getvalue() == (
        "Nothing to do: no entry is of a month that ended more than 36500 days ago.\n")


@pytest.mark.parametrize(("damage", "message"), [
    (lambda path: path.unlink(), "audit-2026-01-5-6.jsonl.gz is missing"),
    (lambda path: path.write_bytes(path.read_bytes()[:-20]), "cannot be read to its end"),
    (lambda path: path.write_bytes(path.read_bytes() + gzip.compress(b"")), "was changed"),
    (lambda path: path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(
        b'"share":0.5', b'"share":0.7'))), "Entry 6 (engagement.update"),
    (lambda path: path.write_bytes(gzip.compress(b"\n".join(gzip.decompress(
        path.read_bytes()).split(b"\n")[:2]))), "(entries 5 to 6) was changed"),
])
def test_damage_to_an_archive_is_found_and_named(log, damage, message):
    _first, second, _third = archived()
    assert verify()[0]
    damage(Path(default_storage.path(second.file.name)))
    is_good, text = verify()
    assert not is_good
    assert message in text


@pytest.mark.parametrize("column", [
    "first_number", "last_number", "previous_hash", "last_hash", "seal", "sha256", "file"])
def test_a_changed_row_of_an_archive_is_found(log, column):
    archive = archived()[1]
    value = {"first_number": 6, "last_number": 5}.get(column, "f" * 64)
    with connection.cursor() as cursor:  # behind the application's back
        cursor.execute(f"UPDATE engagements_auditarchive SET {column} = %s WHERE id = %s",
                       [value, archive.pk])
    assert not verify()[0]


def test_copies_of_the_files_elsewhere_do_as_well(log, tmp_path):
    rows, copies = archived(), tmp_path / "copies"
    copies.mkdir()
    for row in rows:
        shutil.move(default_storage.path(row.file.name), copies)
    assert not verify()[0]
    assert verify(archive=copies)[0]


def test_a_walk_is_resumed_behind_an_archive_and_within_one(log, monkeypatch):
    seen = AuditEntry.objects.get(pk=11)
    checkpoint.keep(checkpoint.Checkpoint(11, seen.entry_hash, seen.seal, NOW.isoformat()))
    for _archive in audit_archiving.archive_old(now=NOW + timedelta(days=90), days=DAYS):
        pass
    assert checkpoint.last().number == 9  # the beginning of the file in which it lies
    assert "entries after number 9" in verify(resume=True)[1]
    checkpoint.keep(checkpoint.behind_archives())
    monkeypatch.setattr("engagements.audit.archive_files.read", None)  # none is read again
    assert list(audit_log.findings(checkpoint.last())) == []


@pytest.mark.slow
def test_archiving_raises_no_false_alarm_where_the_log_was_seen_to_its_end(log):
    for _time in range(2):
        assert verify()[0]
        assert checkpoint.stored().number == AuditEntry.objects.latest("pk").pk
        archived()
        assert [found.state for found in diagnosis.audit()] == [diagnosis.GOOD]
        assert write_backup(django_settings.VAR_DIR / "backups").faults == []
        assert verify()[0]
    for _archive in audit_archiving.archive_old(now=timezone.now() + timedelta(days=90), days=DAYS):
        pass
    assert verify()[0]
    assert (verify(resume=True)[0], check_log().finding) == (True, None)


def test_a_log_that_is_not_good_is_not_archived(log):
    AuditEntry.objects.filter(pk=3).update(action="stage.pass")
    with override("en"), pytest.raises(WrongState, match="3: changed"):
        archived()
    assert (AuditEntry.objects.count(), AuditArchive.objects.count()) == (12, 0)


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_an_interrupted_run_left_is_used_if_it_is_whole_and_never_removed(log, is_whole):
    left = audit_archiving._written(audit_archiving._next_range(NOW, 12), NOW).file
    content = Path(left.path).read_bytes()[:None if is_whole else 50]
    Path(left.path).write_bytes(content)
    assert (archived()[0].file.name == left.name) == is_whole
    assert Path(left.path).read_bytes() == content
    assert verify()[0]


def test_archives_are_sealed_under_a_new_key_and_their_files_stay(log, settings):
    rows = archived()
    files = {row.file.name: Path(row.file.path).read_bytes() for row in rows}
    old, settings.AUDIT_KEY = settings.AUDIT_KEY, "another"
    assert next(audit_log.findings()).problem == "seal"
    key_rotation.seal_audit_log_anew(actor=None, old_key=old)
    assert verify()[0]
    assert {name: Path(default_storage.path(name)).read_bytes() for name in files} == files


def test_archived_entries_keep_their_engagement_and_are_told_where_they_count(
        log, people, client):
    archived()
    with pytest.raises(ProtectedError):
        log.delete()
    assert [entry.pk for entry in audit_log.archived_entries(log, lambda entry: entry.pk % 2)
            ] == [1, 3, 5, 7, 9]
    assert set(audit_log.hashes_of([2, 8, 11])) == {2, 8, 11}
    client.force_login(people[Role.MANAGER])
    for query in ("", "?engagement=CLOSED", "?check=1"):
        assert "audit-2026-03-7-9.jsonl.gz" in client.get(f"/audit/{query}").content.decode()
    found = client.get("/api/v1/audit-archives/").json()["results"]
    assert [row["last_number"] for row in found] == [9, 6, 4]
    client.force_login(people[Role.CONSULTANT])
    assert client.get("/api/v1/audit-archives/").status_code == 403


KILLED = """
import os, signal, sys
import django; django.setup()
from datetime import UTC, datetime
from django.core.management import call_command
from delivery.operation import audit_archiving
from engagements.audit import audit_log
audit_archiving.MOST_ENTRIES = 5
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
place = sys.argv[1]
if place == "set up":
    call_command("migrate", verbosity=0)
    from engagements.models import Customer
    audit_log.timezone.now = lambda: datetime(2026, 1, 5, tzinfo=UTC)
    target = Customer.objects.create(name="c")
    for number in range(9):
        audit_log.record(actor=None, action="customer.update", target=target)
    sys.exit()
call_command("verify", "--audit", "--language", "en")
sys.stdout.flush()
where = {"while it is written": (audit_log, "entry_facts"),
         "before it is stored": (audit_archiving, "_stored"),
         "before it is at rest": (audit_archiving, "_settle"),
         "before it is read again": (audit_log, "check_archive"),
         "before the rows go": (audit_archiving, "_move"),
         "in the transaction": (audit_log, "record")}
if place in where:
    getattr(*where[place])
    setattr(*where[place], die)
for archive in audit_archiving.archive_old(now=datetime(2026, 6, 1, tzinfo=UTC), days=30):
    print(archive)
"""


@pytest.mark.slow
@pytest.mark.django_db
def test_killed_at_any_step_it_has_lost_nothing_and_goes_on(migrated_database):
    def run(*command: str, status: int = 0) -> str:
        done = subprocess.run([sys.executable, *command], env=migrated_database, timeout=900,
                              cwd=django_settings.BASE_DIR, capture_output=True, text=True,
                              check=False)
        assert done.returncode == status, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    run("-c", KILLED, "set up")
    for place in ("while it is written", "before it is stored", "before it is at rest",
                  "before it is read again", "before the rows go", "in the transaction"):
        assert "unbroken" in run("-c", KILLED, place, status=-signal.SIGKILL)
    *found, first, second = run("-c", KILLED, "to the end").splitlines()
    assert "unbroken" in "".join(found)
    assert [first, second] == [
        "audit/audit-2026-01-1-5.jsonl.gz", "audit/audit-2026-01-6-10.jsonl.gz"]
    folder = Path(migrated_database["DESK_VAR_DIR"], "artifacts", "audit")
    assert len(list(folder.iterdir())) == 2
    shown = run("manage.py", "verify", "--audit", "--language", "en")
    assert "12 entries" in shown
