"""`verify --audit` finds every edit made behind the application's back, and names the row."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from delivery.evidence.services import build_bundle
from delivery.operation import diagnosis
from delivery.operation.backup.writing import write_backup
from delivery.reports.models import Document
from engagements.audit import audit_log, checkpoint
from engagements.models import AuditChain, AuditEntry, Engagement, User
from tests.cached_fixtures import cached_fixture
from tests.delivery.review_steps import end_transaction
from workers.models import Job

pytestmark = pytest.mark.slow


@pytest.fixture
@cached_fixture
def signed(review, act):
    act.decide(review)
    act.sign_and_seal(review)
    end_transaction()
    return review


def run(*bundles) -> tuple[bool, str]:
    out = io.StringIO()
    try:
        call_command("verify", *map(str, bundles), audit=True, language="en", stdout=out)
    except CommandError:
        return False, out.getvalue()
    return True, out.getvalue()


def rewrite(start: int) -> None:
    """What somebody does who can write to the database and knows how the chain is made."""
    previous = AuditEntry.objects.filter(pk__lt=start).order_by("pk").last().entry_hash
    for entry in AuditEntry.objects.filter(pk__gte=start).order_by("pk"):
        entry.previous_hash = previous
        entry.entry_hash = previous = audit_log.entry_hash(entry)
        AuditEntry.objects.filter(pk=entry.pk).update(
            previous_hash=entry.previous_hash, entry_hash=entry.entry_hash)
    AuditChain.objects.update(head=previous)


def test_an_untouched_log_is_good(signed):
    is_good, text = run()
    assert is_good, text
    assert "unbroken" in text


@pytest.mark.parametrize("field", [f.name for f in AuditEntry._meta.concrete_fields])
def test_an_edited_column_is_found_and_its_row_named(signed, field):
    entry = AuditEntry.objects.get(action="review.decide")
    other = {"at": signed.opened_at, "actor": User.objects.first().pk, "engagement": None,
             "data": {"decision": "rejected"}, "rows": {}, "id": 10**6}.get(field, "f" * 40)
    AuditEntry.objects.filter(pk=entry.pk).update(**{field: other})
    is_good, text = run()
    assert not is_good
    assert f"Entry {10**6 if field == 'id' else entry.pk} (" in text


@pytest.mark.parametrize("field", [f.name for f in AuditChain._meta.concrete_fields])
def test_an_edited_head_of_the_chain_is_found(signed, field):
    value = {"id": 7, "number": 7, "end_number": 7, "older_until": signed.opened_at}
    AuditChain.objects.update(**{field: value.get(field, "f" * 64)})
    is_good, text = run()
    assert not is_good
    assert f"ntry {AuditEntry.objects.order_by('pk').last().pk} (" in text


def test_one_changed_letter_of_an_issued_snapshot_is_found_and_named(signed):
    """In every part of it, one after the other."""
    document = Document.objects.get(pk=signed.document_id)
    for key, value in document.snapshot.items():
        Document.objects.filter(pk=document.pk).update(
            snapshot={**document.snapshot, key: nudged(value)})
        is_good, text = run()
        named = f"reports.Document row {document.pk} ({document}): snapshot" in text
        assert (is_good, named) == (False, True), key
    Document.objects.filter(pk=document.pk).update(snapshot=document.snapshot)
    assert run()[0]


def nudged(value):
    """The same with the least change."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + chr(ord(value[-1]) ^ 1) if value else "x"
    if isinstance(value, list):
        return [*value[:-1], nudged(value[-1])] if value else [0]
    key = next(iter(value), None)
    return {**value, key: nudged(value[key])} if value else {"x": 0}


def test_removed_added_and_moved_entries_are_found(signed):
    entries = list(AuditEntry.objects.order_by("pk"))
    middle, last = entries[len(entries) // 2], entries[-1]
    following = entries[len(entries) // 2 + 1]
    AuditEntry.objects.filter(pk=middle.pk).delete()
    assert f"Entry {following.pk} (" in run()[1]
    middle.save(force_insert=True)
    assert run()[0]
    AuditEntry.objects.filter(pk=last.pk).delete()
    assert f"After entry {entries[-2].pk} (" in run()[1]
    last.save(force_insert=True)
    forged = AuditEntry(pk=last.pk + 1, at=last.at, action="document.sign", target_type="x",
                        target_id="1", data={}, previous_hash=last.entry_hash, seal="0" * 64)
    forged.entry_hash = audit_log.entry_hash(forged)
    forged.save()
    assert f"entry {forged.pk} (" in run()[1]


def test_an_emptied_log_is_found(signed):
    AuditEntry.objects.all().delete()
    is_good, text = run()
    assert not is_good
    assert "All entries are missing." in text


def test_a_chain_written_anew_lacks_the_key(signed):
    entry = AuditEntry.objects.get(action="review.decide")
    AuditEntry.objects.filter(pk=entry.pk).update(data={"decision": "rejected"})
    rewrite(entry.pk)
    is_good, text = run()
    assert not is_good
    assert f"Entry {entry.pk} (" in text


def test_even_with_the_key_a_bundle_given_away_shows_it(signed, act, tmp_path):
    bundle = build_bundle(actor=act.manager, engagement=signed.document.engagement,
                          document=signed.document)
    path = tmp_path / "bundle.zip"
    with bundle.file.open("rb") as stream:
        path.write_bytes(stream.read())
    assert run(path)[0]
    entry = AuditEntry.objects.get(action="review.open")
    AuditEntry.objects.filter(pk=entry.pk).update(data={"phase": "preliminary"})
    rewrite(entry.pk)
    seal = ""
    for row in AuditEntry.objects.order_by("pk"):
        seal = audit_log.entry_seal(seal, row.entry_hash)
        AuditEntry.objects.filter(pk=row.pk).update(seal=seal)
    chain = AuditChain.objects.get()
    chain.seal = seal
    audit_log.seal_end(chain)
    chain.save()
    assert f"another entry {AuditEntry.objects.count()} stood here" in run()[1]
    checkpoint.begin_anew(None)  # where the log was never looked at before
    assert run()[0]
    is_good, text = run(path)
    assert not is_good
    assert f"Entry {entry.pk} is not the one that bundle.zip names." in text


@pytest.mark.parametrize("was_seen", [True, False])
def test_a_log_and_a_run_cut_out_of_the_database_by_sql_are_noticed(signed, settings, was_seen):
    """Every look says so, again and again, also where the log was never looked at before."""
    last = AuditEntry.objects.order_by("pk").last()
    engagement = Engagement.objects.get()
    job = Job.objects.create(kind="adapt.train", engagement=engagement, state="failed",
                             finished_at=signed.opened_at)
    audit_log.record(actor=None, action="job.end", target=job, engagement=engagement)
    if was_seen:
        assert run()[0]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM engagements_auditentry WHERE id > %s", [last.pk])
        cursor.execute("DELETE FROM workers_job WHERE id = %s", [job.pk])
        cursor.execute("UPDATE engagements_auditchain SET number = %s, head = %s, seal = %s",
                       [last.pk, last.entry_hash, last.seal])
    for _time in range(2):
        is_good, text = run()
        assert not is_good
        assert f"Entry {last.pk} (" in text
        assert (f"whole up to entry {last.pk + 1}, which is missing" in text) == was_seen
        assert f"open  workers.Job: number {job.pk} was given" in text
    [found] = diagnosis.audit()
    assert (found.state, str(last.pk) in found.sentence) == (diagnosis.BAD, True)
    with pytest.raises(CommandError, match=f" {last.pk}"):
        call_command("scrub", stdout=io.StringIO(), language="en")
    assert write_backup(settings.VAR_DIR / "backups").faults != []


def test_numbers_of_jobs_are_complete_in_a_log_that_is_good(signed):
    job = Job.objects.create(kind="adapt.train", engagement=Engagement.objects.get())
    audit_log.record(actor=None, action="job.queue", target=job)
    job.delete()
    end_transaction()
    is_good, text = run()
    assert (is_good, "unbroken" in text, "was given" in text) == (True, True, False)


def test_an_engagement_with_a_log_cannot_be_removed_under_it(signed):
    from django.db.models import ProtectedError

    with pytest.raises(ProtectedError):
        Engagement.objects.get().delete()


def test_a_bundle_or_the_log_must_be_named():
    with pytest.raises(CommandError):
        call_command("verify", stdout=io.StringIO())
