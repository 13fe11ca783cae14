"""Secrets planted wherever somebody writes: refused, or masked, or encrypted; found nowhere after.

`SECRET` is searched in rows as a backup holds them, the audit log, the API, pages, logs, mails,
figures and the bundle of a job's files.
"""

import gzip
import logging
from datetime import timedelta

import pytest
from django.core import mail
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import override
from rest_framework.test import APIClient

from delivery.operation.backup.writing import write_backup
from delivery.operation.metrics import exposition
from engagements.audit_rows import secret_texts
from engagements.audit_rows.secret_texts import refuse_secrets
from engagements.audit_rows.tracking import excluded_columns, tracked_tables
from engagements.errors import InvalidInput
from engagements.models import AuditEntry, Role, StageComment
from engagements.services import add_model, comment_on_stage
from workers.dispatch import runner
from workers.models import CardAlarm, Job, JobState, Node, PendingUpload

SECRET = "S3cr3tValue77Qx"
KEY = f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n"
# Of a path or address, which a secret is not, another rule says so first.
OTHER_RULES = {"name", "file_roots", "scratch_dir", "set_env", "bastion_host", "jump_hosts"}
PLANTED = (f"run --password {SECRET}", f"export HF_TOKEN={SECRET}", f"https://me:{SECRET}@host/x",
           KEY, f"Authorization: Bearer {SECRET}")


@pytest.mark.parametrize("planted", PLANTED)
def test_no_column_that_people_write_takes_one(planted):
    """Every text of every table that the audit log tracks, whoever writes it: page, API, import."""
    tried = 0
    for table in tracked_tables():
        for name in secret_texts._columns(table, excluded_columns(table)):
            tried += 1
            with override("en"), pytest.raises(InvalidInput, match="password or key"):
                refuse_secrets(table, {name: planted}, excluded_columns(table))
            refuse_secrets(table, {name: "the token is kept by the operator; key_layer = 4"})
    assert tried > 250


@pytest.mark.parametrize("sentence", [
    "首token:80ms", "训练 token: 3.2M", "decode token=128k", "token: 首次时延",
    "password: ask Mr Li",
    "AK: 由客户发放", "密码：见保险柜", "cookie: consent needed", "Time per output token: 35 ms",
    "token: 12,000/s at 8 cards", "secret: none"])
def test_sentences_about_tokens_and_passwords_are_kept(sentence):
    refuse_secrets(StageComment, {"text": sentence})


@pytest.mark.parametrize("text", [
    "password: hunter2", "token=abcdefgh", "--password letmein", "AK: 9fQ2x71LmZ",
    "api_key: 3b1f9ac07d", "首token:80ms, password=hunter2"])
def test_a_short_secret_among_words_is_refused(text):
    with pytest.raises(InvalidInput):
        refuse_secrets(StageComment, {"text": text})


def test_what_machines_say_is_named_and_there():
    """The exceptions are columns that there are."""
    tables = {table._meta.label_lower: table for table in tracked_tables()}
    for exceptions in (secret_texts.OF_MACHINES, secret_texts.FREE_JSON):
        for label, names in exceptions.items():
            assert names <= {field.attname for field in tables[label]._meta.concrete_fields}


@pytest.fixture
def record(people, engagement):
    return add_model(actor=people[Role.MANAGER], engagement=engagement, code="M", name="m"
                     ).stages.order_by("stage").first()


@pytest.mark.django_db
def test_a_row_that_holds_one_from_before_can_be_written_on(people, record):
    """Refused is what is given now; what an older version let in does not stop other work."""
    old = comment_on_stage(actor=people[Role.MANAGER], record=record, text="x")
    QuerySet(StageComment).filter(pk=old.pk).update(text=PLANTED[0])  # unnoticed
    old.refresh_from_db()
    old.save()
    old.text = PLANTED[1]
    with pytest.raises(InvalidInput):
        old.save()
    with pytest.raises(InvalidInput):
        StageComment.objects.filter(pk=old.pk).update(text=PLANTED[1])
    assert SECRET not in str(list(AuditEntry.objects.values_list("rows", "data", "target_label")))


def bodies(engagement, record, node, people) -> list[tuple[str, str, dict]]:
    """Method, path and body of what people write: jobs, commands, notes, node settings, channels.

    `{}` stands where the secret is planted; one body for each text field.
    """
    code, day = engagement.code, str(timezone.localdate())
    owner = people[Role.MANAGER].pk
    job = {"kind": "adapt.smoke_train", "engagement": code, "model": record.model_id,
           "node": node.pk}
    risk = {"engagement": code, "title": "t", "probability": 1, "impact": 1, "owner": owner,
            "review_on": day}
    issue = {"engagement": code, "description": "d", "level": "minor", "owner": owner,
             "raised_on": day, "due_on": day}
    meeting = {"engagement": code, "topic": "t", "held_at": timezone.now().isoformat(),
               "chair": "c", "participants": "p"}
    return [
        ("post", "jobs/", {**job, "parameters": {"script": "x.py", "arguments": "{}"}}),
        ("post", "jobs/", {**job, "kind": "run.command", "parameters": {"script": "{}"}}),
        ("post", "jobs/", {**job, "priority": 10, "priority_reason": "{}",
                           "parameters": {"script": "x.py"}}),
        ("post", "job-templates/", {"name": "{}", "kind": "adapt.smoke_train", "parameters": {}}),
        ("post", "job-templates/", {"name": "t", "kind": "adapt.smoke_train",
                                    "parameters": {"arguments": "{}"}}),
        ("post", "uploads/", {"engagement": code, "name": "a.txt", "size": 3, "note": "{}"}),
        ("post", f"stages/{record.pk}/comments/", {"text": "{}"}),
        ("post", "time-entries/", {"engagement": code, "work_date": day, "half": "am",
                                   "item": "env", "grade": "engineer", "note": "{}"}),
        ("post", "todos/", {"engagement": code, "text": "{}", "owner": owner, "due_on": day}),
        ("patch", f"engagements/{code}/", {"description": "{}"}),
        ("post", "customers/", {"name": "{}"}),
        ("post", "notice-channels/", {"name": "{}", "kind": "webhook", "url": "https://h.test/x"}),
        *(("post", "risks/", {**risk, name: "{}"}) for name in ("title", "response")),
        *(("post", "project-issues/", {**issue, name: "{}"}) for name in ("description", "effect")),
        *(("post", "meetings/", {**meeting, name: "{}"}) for name in (
            "topic", "place", "chair", "participants", "agenda", "discussion", "decisions")),
        *(("patch", f"nodes/{node.pk}/", {name: "{}"}) for name in (
            "name", "scratch_dir", "set_env", "container_options", "file_roots", "labels",
            "bastion_host", "jump_hosts")),
    ]


def filled(value, planted):
    if isinstance(value, dict):
        return {name: filled(entry, planted) for name, entry in value.items()}
    return planted if value == "{}" else value


@pytest.mark.django_db(transaction=True)
def test_the_api_takes_none_and_keeps_none(people, engagement, record, node, tmp_path, caplog,
                                           settings):
    """Real requests: each field refused with a sentence; then nothing anywhere holds the secret."""
    caplog.set_level(logging.DEBUG)
    client = APIClient(headers={"accept-language": "en"})
    client.force_authenticate(people[Role.ADMINISTRATOR])
    settings.NOTICE_HOSTS = ["h.test"]
    others = set()
    for planted in PLANTED:
        for method, path, body in bodies(engagement, record, node, people):
            answer = getattr(client, method)(f"/api/v1/{path}", filled(body, planted), "json",
                                             headers={"if-match": "*"})
            text = answer.content.decode()
            assert answer.status_code in (400, 409), (path, filled(body, planted), text)
            if "password or key" not in text:
                others |= {name for name, value in body.items() if value == "{}"}
    assert others <= OTHER_RULES
    assert found_in_all_places(client, tmp_path, caplog) == set()


@pytest.mark.django_db(transaction=True)
def test_what_is_to_be_kept_secret_is_kept_encrypted(people, node, tmp_path, caplog, settings):
    """A channel's address and secret, a node's key, a passphrase: no writer says them again."""
    caplog.set_level(logging.DEBUG)
    client = APIClient(headers={"accept-language": "en"})
    client.force_authenticate(people[Role.ADMINISTRATOR])
    settings.NOTICE_HOSTS = ["hooks.test"]
    made = client.post("/api/v1/notice-channels/", {
        "name": "hook", "kind": "webhook", "url": f"https://hooks.test/{SECRET}?key={SECRET}",
        "secret": "whsec_" + SECRET * 4, "kinds": ["job_failed"]}, "json")
    Node.objects.filter(pk=node.pk).update(passphrase=SECRET, scheduler_secret=SECRET)
    assert made.status_code == 201, made.content
    assert found_in_all_places(client, tmp_path, caplog) == set()


@pytest.mark.django_db(transaction=True)
def test_what_a_job_prints_is_masked_wherever_it_goes(queue, people, tmp_path, caplog):
    """Log, errors, files, the sentence of the failure, notices and mails of it."""
    job = runner.drive(queue(
        f"w=$(printf %s {SECRET[:6]} {SECRET[6:]}); echo HF_TOKEN=$w; echo run --password $w >&2;"
        "echo user: me > a.txt; echo password: $w >> a.txt; echo Error: api_key=$w >&2; exit 3"))
    assert job.state == JobState.FAILED
    assert SECRET not in job.technical_cause + job.message + str(job.message_values)
    client = APIClient()
    client.force_authenticate(people[Role.ADMINISTRATOR])
    assert found_in_all_places(client, tmp_path, caplog) == set()


@pytest.mark.django_db
def test_notes_that_no_entry_of_a_table_holds(people, node):
    with pytest.raises(InvalidInput):
        refuse_secrets(PendingUpload, {"note": PLANTED[0]})
    with pytest.raises(InvalidInput):
        refuse_secrets(CardAlarm, {"note": PLANTED[0], "silenced_until": timezone.now()
                                   + timedelta(hours=1)})


def found_in_all_places(client, folder, caplog) -> set[str]:
    """Where the secret stands, of all that keeps or shows what people and machines wrote."""
    found = set()
    root = folder / "backup"
    write_backup(root)
    for path in root.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            held = gzip.decompress(held) if held[:2] == b"\x1f\x8b" else held
            found |= {f"backup {path.name}"} if SECRET.encode() in held else set()
    entries = AuditEntry.objects.values_list("data", "rows", "target_label")
    shown = {"audit log": str(list(entries)), "log": caplog.text, "figures": exposition().content,
             "mails": [(each.subject, each.body, each.recipients()) for each in mail.outbox]}
    for path in ("jobs", "artifacts", "nodes", "notice-channels", "audit-entries", "notices",
                 "job-templates", "risks", "meetings", "todos", "customers"):
        shown[f"API {path}"] = client.get(f"/api/v1/{path}/", {"page_size": 200}).content
    for job in Job.objects.all():
        shown[f"job {job.pk}"] = client.get(f"/api/v1/jobs/{job.pk}/log/").content
    return found | {place for place, text in shown.items() if SECRET in str(text)}
