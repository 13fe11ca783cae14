"""Whatever row somebody states something by is in the log: an edit by raw SQL is named."""

import io
from contextlib import contextmanager

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import DataError, IntegrityError, connection, models, transaction

from delivery.acceptance.models import Identification
from delivery.notices.models import Channel
from delivery.operation.models import DamagedFile
from delivery.planning.models import MarginFloor
from delivery.reports.models import Document
from delivery.surveys.models import QuestionnaireDraft
from engagements.audit import audit_log
from engagements.audit_rows.tracking import excluded_columns, tracked_tables, untracked_tables
from engagements.models import ApiToken, User
from tests.cached_fixtures import cached_fixture
from tests.delivery.evidence.rows_of_all_tables import write_everything
from tests.test_architecture import layer
from workers.models import Gang, Job, JobInput, Node, NodeLogin, RuntimeChoice
from workers.models.job import FINAL_STATES

pytestmark = pytest.mark.slow

# Secrets, counters, and where workers are: no statements of anybody.
LEFT_OUT = {
    User: {"password", "last_login"},
    ApiToken: {"key_hash", "last_used_at", "last_used_from"},
    DamagedFile: {"seen_at"}, Document: {"duplicate"},
    Identification: {"salt", "code_hash", "attempts"},
    Channel: {"url", "secret", "previous_secret", "tokens", "refilled_at", "failures"},
    NodeLogin: {"private_key", "passphrase", "refused_at", "refused_cause"},
    Node: {"private_key", "passphrase", "scheduler_secret", "software", "lease_counter",
           "scratch_used_mb",
           "scratch_free_mb", "clock_offset_seconds", "unreachable_since", "shell_seconds",
           "trouble", "last_seen_at", "last_error", "machine_id", "boot_id", "sampled_at",
           "scheduler_facts", "offers", "sessions_at_once", "disk_full_at"},
    Gang: {"rendezvous", "failing_since"}, JobInput: {"arrived", "size", "files"},
    Job: {"progress_done", "progress_total", "log_offset", "log_stored", "alarms", "log_grew_at",
          "last_loss", "claim_token", "claimed_until", "next_step_at", "remote", "heartbeat_at",
          "state_before_unknown", "troubles", "folder_removed_at", "folder_kb"},
}
# What a constraint ties to other columns: the database itself refuses to change it alone.
TIED = {
    "acceptance.AcceptanceTerms.is_deemed", "acceptance.BlockerWaiver.signed_at",
    "acceptance.BlockerWaiver.signed_by", "acceptance.FollowUp.condition",
    "acceptance.FollowUp.issue", "acceptance.PowerOfAttorney.ended_at",
    "acceptance.RegressionJob.chain_run", "acceptance.RegressionJob.position",
    "acceptance.Receipt.is_complete", "acceptance.ReviewComment.resolved_at",
    "acceptance.ThirdPartyReport.withdrawn_at", "agreement.Agreement.state",
    "assessments.Confirmation.baseline",
    "assessments.Confirmation.scan", "assessments.Confirmation.signatory",
    "assessments.CriteriaSet.state", "assessments.HumanEvaluation.concluded_at",
    "assessments.HumanEvaluation.report", "engagements.Agent.expires_at",
    "engagements.ApiToken.expires_at", "engagements.ApiToken.scope",
    "engagements.Engagement.loss_cause", "invoicing.Invoice.credits",
    "quotes.FrameworkContract.discount_rate",
    "quotes.QuoteAnswer.is_confirmed", "quotes.QuoteAnswer.way",
    "engagements.StageWaiver.signed_at", "knowledge.CaseEvidence.issue",
    "knowledge.CaseEvidence.verdict", "knowledge.SolvedCase.approved_at",
    "knowledge.SolvedCase.approved_by", "knowledge.SolvedCase.approved_hash",
    "knowledge.SolvedCase.retired_at",
    "knowledge.SolvedCase.retired_reason", "notices.MailSetting.quiet_from",
    "notices.MailSetting.quiet_until",
    "engagements.StageWaiver.signed_by", "planning.ChangeProposal.answered_at",
    "planning.ChangeProposal.answered_by", "planning.ChangeProposal.change",
    "planning.ChangeRequest.result",
    "planning.ChangeRequest.state", "planning.EffortEstimate.state", "planning.PriceEffect.action",
    "planning.PriceEffect.line", "planning.ScopeEffect.action", "planning.ScopeEffect.model",
    "planning.ScopeEffect.stage", "planning.TimeEntry.is_taken_back", "planning.Timesheet.state",
    "planning.WeeklyReport.state", "quotes.Quote.discount_rate", "workers.NodeReservation.ends_at",
    "workers.ApiRoute.answered_on", "workers.ApiRoute.link",
}


@pytest.fixture
@cached_fixture
def everything(delivered, act, people):
    """At least one row of every table that the log tracks, each by its service."""
    write_everything(delivered, act, people)
    return delivered


def run_verify() -> tuple[bool, str]:
    out = io.StringIO()
    try:
        call_command("verify", audit=True, language="en", stdout=out)
    except CommandError:
        return False, out.getvalue()
    return True, out.getvalue()


def test_every_table_has_rows_and_none_differs(everything):
    assert [table._meta.label for table in tracked_tables()
            if not table._base_manager.exists()] == []
    assert run_verify()[0], run_verify()[1]


def test_every_table_and_column_is_decided_on():
    """Each table stands in its app's `audit_config.py`, each excluded column here."""
    ours = {model for model in apps.get_models(include_auto_created=True)
            if layer(model._meta.app_config) is not None}
    tracked, others = set(tracked_tables()), untracked_tables()
    assert tracked ^ set(others) == ours
    assert all(others.values())
    assert {table: excluded_columns(table) for table in tracked
            if excluded_columns(table)} == LEFT_OUT


def test_an_edit_of_any_column_is_found_and_named(everything):
    """Of the last row of every table all columns at once; what the database refuses then, as it
    does not fit the rest, is tried again with fewer."""
    left = {row: [field for field in row._meta.concrete_fields if not field.primary_key
                  and field.name not in LEFT_OUT.get(type(row), ())] for row in last_rows()}
    while any((done := edited_and_named(left)).values()):
        left = {row: [field for field in fields if field not in done[row]]
                for row, fields in left.items()}
    assert {str(field) for fields in left.values() for field in fields} == TIED


def edited_and_named(columns: dict) -> dict:
    """Those columns of the rows whose edit the database takes; the log names each."""
    with undone():
        done = {row: [field for field in fields if edited(field, row)]
                for row, fields in columns.items()}
        stated = {(type(row), str(row.pk), "changed", tuple(field.attname for field in fields))
                  for row, fields in done.items() if fields}
        assert stated - set(found()) == set()
    return done


def test_a_row_removed_behind_the_back_is_named(everything):
    rows = last_rows()
    with undone():
        for row in rows:
            sql("DELETE FROM {table} WHERE id = %s", row, [row.pk])
        sentences = run_verify()[1]
    assert [row for row in rows
            if f"{row._meta.label} row {row.pk} is missing" not in sentences] == []


def test_a_row_added_behind_the_back_is_named(everything):
    rows = last_rows()
    with undone():
        refused = [row for row in rows if not copied(row)]
        sentences = run_verify()[1]
    # of the first there is one at most, of the second one for each place
    assert {type(row) for row in refused} == {MarginFloor, QuestionnaireDraft, RuntimeChoice}
    assert [row for row in rows if row not in refused
            and f"{row._meta.label} row {NEW} (" not in sentences] == []


def last_rows() -> list[models.Model]:
    """The last row of every table; the last job that has ended."""
    return [table._base_manager.filter(
        **{"state__in": FINAL_STATES} if table is Job else {}).order_by("pk").last()
        for table in tracked_tables()]


def copied(row: models.Model) -> bool:
    """The row once more under a new key; what may stand only once in other words."""
    fields = [field for field in row._meta.concrete_fields if not field.primary_key]
    once = {name for rule in row._meta.constraints if isinstance(rule, models.UniqueConstraint)
            for name in rule.fields} | {field.name for field in fields if field.unique}
    values = {field.column: others(field, getattr(row, field.attname))[0] for field in fields
              if field.name in once}
    for taken in (values, *({name: value} for name, value in values.items())):
        chosen = ", ".join("%s" if field.column in taken else f'"{field.column}"'
                           for field in fields)
        names = ", ".join(f'"{field.column}"' for field in fields)
        if accepted(f"INSERT INTO {{table}} (id, {names}) SELECT {NEW}, {chosen} FROM {{table}} "
                    "WHERE id = %s", row, [*taken.values(), row.pk]):
            return True
    return False


def found() -> list[tuple]:
    return [(one.table, one.key, one.problem, one.columns) for one in audit_log.row_differences()]


def edited(field: models.Field, row: models.Model) -> bool:
    """Change the column behind the application's back; False if the database refuses."""
    return any(accepted(f'UPDATE {{table}} SET "{field.column}" = %s WHERE id = %s', row,
                        [value, row.pk]) for value in others(field, getattr(row, field.attname)))


@contextmanager
def undone():
    """What happens inside is taken back."""
    before = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(before)


def accepted(text: str, row: models.Model, values: list) -> bool:
    try:
        with transaction.atomic():
            sql(text, row, values)
    except (IntegrityError, DataError):
        return False
    return True


def sql(text: str, row: models.Model, values: list) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text.format(table=f'"{row._meta.db_table}"'), values)


NEW = 7_000_001
SMALL = (models.SmallIntegerField, models.PositiveSmallIntegerField)
TEXT = (models.CharField, models.TextField, models.FileField, models.GenericIPAddressField)
OTHERS = [  # values that a column may be changed to, the least change first
    (models.BooleanField, lambda value: [not value]),
    (models.DateTimeField, lambda _value: ["2025-01-01 00:00:00.000001"]),
    (models.DateField, lambda _value: ["2025-01-02"]),
    (models.TimeField, lambda _value: ["01:02:03"]),
    (models.BinaryField, lambda _value: [b"x"]),
    (models.JSONField, lambda _value: ['{"x": 1}', '["x"]']),
    (TEXT, lambda value: [f"{value}"[:-1] + chr(ord(f"{value}"[-1]) ^ 1) if value else "x"]),
    (SMALL, lambda value: [(value or 0) + 1, 1, 2, 3]),
    (models.Field, lambda _value: [NEW, 1, 2, 3, 0]),
]


def others(field: models.Field, value) -> list:
    """Values of the first entry that is about such a column, then its choices and none at all,
    without its own."""
    make = next(make for kinds, make in OTHERS if isinstance(field, kinds))
    chosen = [choice for choice, _label in field.flatchoices]
    return [other for other in (*make(value), *chosen, *([None] if field.null else []))
            if other != value]
