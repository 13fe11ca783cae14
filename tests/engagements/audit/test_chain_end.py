"""The seal of the log's end: of a new log, of one that an older version wrote, and in between."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db.migrations.state import ProjectState
from django.utils import timezone

from engagements.audit import audit_log, checkpoint, end_sealing
from engagements.models import AuditChain, AuditEntry, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def append(engagement, people):
    def record() -> AuditEntry:
        return audit_log.record(actor=people[Role.MANAGER], action="engagement.update",
                                target=engagement)

    record()
    return record


def problems() -> list[str]:
    return [found.problem for found in audit_log.findings()]


def cut(number: int) -> None:
    """As by SQL: the newest entries go, and the row of the chain says what the last one says."""
    AuditEntry.objects.filter(pk__gt=number).delete()
    last = AuditEntry.objects.get(pk=number)
    AuditChain.objects.update(number=number, head=last.entry_hash, seal=last.seal)


def as_older_version() -> None:
    """The log as a version without end seals would have written it."""
    previous, seal = audit_log.OLDER_FIRST_PREVIOUS_HASH, ""
    for entry in AuditEntry.objects.order_by("pk"):
        entry.previous_hash = previous
        entry.entry_hash = previous = audit_log.entry_hash(entry)
        entry.seal = seal = audit_log.entry_seal(seal, entry.entry_hash)
        entry.save()
    AuditChain.objects.update(head=previous, seal=seal, end_seal="", end_number=0)


def append_as_older_version(append) -> None:
    before = AuditChain.objects.get()
    append()
    AuditChain.objects.update(end_seal=before.end_seal, end_number=before.end_number)


def migrated() -> str:
    out = io.StringIO()
    end_sealing._after_migrations(using="default", stdout=out)
    return out.getvalue()


def test_an_entry_s_own_seal_does_not_serve_as_the_end_s(append):
    for _number in range(3):
        append()
    assert problems() == []
    number = AuditEntry.objects.count() - 2
    cut(number)
    last = AuditEntry.objects.get(pk=number)
    assert problems() == ["unsealed"]
    for seal in (last.seal, AuditChain.objects.get().end_seal, ""):
        AuditChain.objects.update(end_number=number, end_seal=seal)
        assert problems() == ["unsealed"]


def test_what_is_appended_to_a_cut_log_does_not_seal_it(append):
    append()
    cut(append().pk - 1)
    append()
    assert problems() == ["unsealed"]


def test_a_log_never_goes_below_what_was_seen_of_it(append, settings, tmp_path):
    settings.AUDIT_MARK = str(tmp_path / "elsewhere" / "mark.json")
    seen = append()
    checkpoint.keep(checkpoint.end())
    assert [path.name for path in tmp_path.rglob("*.json")] == ["mark.json"]
    cut(seen.pk - 1)
    assert problems() == ["unsealed", "cut"]
    chain = AuditChain.objects.get()
    audit_log.seal_end(chain)  # even with a seal that was kept from then
    chain.save()
    assert problems() == ["cut"]
    checkpoint.keep(checkpoint.end())
    assert checkpoint.stored().number == seen.pk
    append()
    assert problems() == ["replaced"]


def test_what_is_appended_during_a_walk_is_walked_as_well(append):
    walked = []

    def walk(entry: AuditEntry) -> None:
        walked.append(entry.pk)
        if len(walked) == last:
            append()

    append()
    last = AuditEntry.objects.count()
    assert list(audit_log.findings(walked=walk)) == []
    assert walked == list(range(1, last + 2))


def test_the_log_of_an_older_version_is_verified_and_sealed_after_migrations(append):
    append()
    as_older_version()
    assert problems() == ["unsealed"]
    assert f"{AuditEntry.objects.count()} " in migrated()
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.data) == ("audit.seal_end",
                                          {"entries": entry.pk - 1, "anew": False})
    assert (problems(), checkpoint.stored().number) == ([], entry.pk)
    assert migrated() == ""
    append()
    cut(entry.pk)
    assert problems() == ["unsealed"]


def test_processes_of_the_older_version_may_go_on_for_a_day(append):
    as_older_version()
    migrated()
    append_as_older_version(append)
    append_as_older_version(append)
    assert problems() == []
    append()
    append_as_older_version(append)
    assert problems() == []
    AuditChain.objects.update(older_until=timezone.now() + timedelta(days=9))
    assert problems() == ["unsealed"]


def test_after_that_day_somebody_has_to_answer_for_what_they_wrote(append, monkeypatch):
    as_older_version()
    migrated()
    later = timezone.now() + end_sealing.OVERLAP
    monkeypatch.setattr(audit_log.timezone, "now", lambda: later)
    append_as_older_version(append)
    append()
    assert problems() == ["unsealed"]
    call_command("seal_audit_log", stdout=io.StringIO())
    assert problems() == []
    assert AuditEntry.objects.latest("pk").data["anew"] is True


def test_an_older_log_that_is_not_good_is_not_sealed(append):
    append()
    as_older_version()
    AuditEntry.objects.filter(pk=1).update(action="stage.pass")
    assert "1" in migrated()
    assert problems() == ["changed", "unsealed"]
    with pytest.raises(CommandError):
        call_command("seal_audit_log")


@pytest.mark.parametrize("is_new", [True, False])
def test_a_seal_that_was_removed_is_not_made_anew_by_migrations(append, is_new):
    append()
    if not is_new:
        as_older_version()
        migrated()
    AuditChain.objects.update(end_seal="")
    assert "seal_audit_log" in migrated()
    append()
    assert problems() == ["unsealed"]


def test_an_older_state_of_the_tables_is_left_alone(append):
    as_older_version()
    end_sealing._after_migrations(using="default", apps=ProjectState().apps)
    assert problems() == ["unsealed"]
