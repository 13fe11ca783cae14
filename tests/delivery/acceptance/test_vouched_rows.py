"""Whatever row somebody states something by is in the log: an edit by raw SQL is named."""

import io
from contextlib import contextmanager
from datetime import date
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import DataError, IntegrityError, connection, models, transaction
from django.utils import timezone

from assessments import services as assessing
from assessments.models import Baseline, Criterion, MetricDefinition
from assessments.services.allowlist import propose_difference
from assessments.services.baselines import add_run
from assessments.services.waivers import sign_waiver
from delivery.acceptance import services
from delivery.acceptance.deliverables import items_of
from delivery.acceptance.models import Identification
from delivery.planning.services import (
    added_criteria,
    changes,
    effects,
    plan,
    scope,
    time,
    timesheets,
)
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine
from delivery.reports import services as reporting
from delivery.surveys import services as surveying
from delivery.surveys.consequences import compare
from delivery.surveys.sheet import Sheet
from engagements import audit
from engagements import services as engaging
from engagements.models import Role, StageRecord, User
from engagements.vouching import VouchedQuerySet, vouched_tables
from tests.delivery.acceptance.test_scans import picture
from tests.delivery.conftest import loss_log, measure, stored
from tests.delivery.planning.test_changes import WORDS
from tests.delivery.surveys.conftest import confirm, fill
from tests.kept import kept
from workers.models import Artifact

# Secrets, counters, and what readers and rules say of a file: no statements of anybody.
LEFT_OUT = {Identification: ("salt", "code_hash", "attempts"), User: ("password", "last_login"),
            Artifact: ("rules", "note")}


@pytest.fixture
@kept
def everything(delivered, act, people):
    """At least one row of every table that the log vouches for, each by its service."""
    state_in_criteria(delivered, people)
    pass_a_gate(delivered, people)
    reporting.save_chain(actor=people[Role.ADMINISTRATOR], kind="TR", steps=[
        {"action": "review", "title": "审核"}, {"action": "approve", "title": "批准"}])
    agree_and_plan(delivered, people)
    ask_and_answer(delivered, people)
    review_and_sign(delivered, act)
    return delivered


def agree_and_plan(engagement, people):
    """A quote, a month of time, and a change that touches everything there is."""
    manager, consultant, sales = people[Role.MANAGER], people[Role.CONSULTANT], people[Role.SALES]
    model = engagement.models.get(code="LLM")
    quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    quote = quoting.create_quote(actor=sales, engagement=engagement)
    price = PriceLine.objects.get(code="S-PM")
    quoting.add_line(actor=sales, quote=quote, price=price, quantity=Decimal(5))
    made = plan.draft_plan(actor=manager, engagement=engagement, starts_on=date(2025, 9, 22))
    change = changes.create_change(actor=consultant, engagement=engagement, quote=quote, **WORDS)
    scope.set_scope_effect(actor=consultant, change=change, action="add_model", code="OCR",
                           name="文字识别", scope="inference")
    added_criteria.add_criterion(
        actor=consultant, change=change, code="OCR", stage="infer_tune", threshold=Decimal(25),
        definition=MetricDefinition.objects.get(code="latency", version=1))
    effects.set_schedule_effect(actor=consultant, change=change, days_after=3,
                                task=made.tasks.first())
    effects.set_criterion_effect(actor=consultant, change=change, threshold_after=Decimal("0.03"),
                                 criterion=Criterion.objects.filter(model=model).first())
    effects.set_price_effect(actor=consultant, change=change, action="add", price=price,
                             quantity=Decimal(2))
    time.record_time(actor=consultant, engagement=engagement, half="am", model=model,
                     work_date=date(2025, 9, 22), item="adapt", grade="senior")
    timesheets.confirm_month(actor=manager, engagement=engagement, month=date(2025, 9, 30))


def ask_and_answer(engagement, people):
    survey = surveying.start_survey(actor=people[Role.CONSULTANT], engagement=engagement)
    confirm(fill(survey, people[Role.CONSULTANT]), people)
    follows = [row.token for row in compare(Sheet(survey)) if row.is_open][:2]
    surveying.decide(actor=people[Role.MANAGER], survey=survey, verdict="conditional",
                     reason="可以启动")
    surveying.apply_consequences(actor=people[Role.MANAGER], survey=survey, tokens=follows)


def state_in_criteria(engagement, people):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    measure(engagement, people, engagement.models.get(code="PSR"), scale=1.05)
    waived = Criterion.objects.get(verdicts__outcome="failed")
    sign_waiver(actor=manager, criterion=waived, reason="客户同意", scope="仅试运行",
                expires_on=date(2999, 1, 1))
    propose_difference(actor=consultant, engagement=engagement, sheet="env", item="HCCL_ALGO",
                       reason="只在昇腾上存在")
    repeat = stored(engagement, waived.model, "gpu/repeat.csv", loss_log(scale=1.0001))
    add_run(actor=consultant, baseline=Baseline.objects.filter(model=waived.model).first(),
            artifact=repeat)
    draft = assessing.draft_criteria(actor=manager, engagement=engagement)
    assessing.confirm_criteria(actor=manager, criteria_set=draft)


def pass_a_gate(engagement, people):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    record = StageRecord.objects.filter(model__engagement=engagement, stage="survey").first()
    for move in ("start", "submit"):
        engaging.move_stage(actor=consultant, record=record, move=move)
    engaging.draft_stage_waiver(actor=manager, record=record, reason="客户要求先行")


def review_and_sign(engagement, act):
    manager = act.manager
    services.set_terms(actor=manager, engagement=engagement, review_days=5)
    services.attach_third_party_report(
        actor=manager, engagement=engagement, laboratory="软件评测中心", report_number="R-1",
        issued_on=date(2025, 6, 1), scope="功能", cnas_number="L1234",
        file=SimpleUploadedFile("report.png", picture()))
    services.record_power(
        actor=manager, engagement=engagement, user=act.reviewer, capacity="主任",
        granted_by="总经理", valid_from=date(2025, 1, 1),
        file=SimpleUploadedFile("power.png", picture()))
    services.attach_third_party_report(
        actor=manager, engagement=engagement, laboratory="检测中心", cnas_number="L1234",
        report_number="NT-1", issued_on=date(2025, 8, 1), scope="时延",
        file=SimpleUploadedFile("report.png", picture()))
    review = act.open(engagement)
    services.record_notice(actor=manager, review=review, channel="hand", addressee="陈国栋",
                           reference="1", delivered_on=timezone.localdate())
    services.name_signers(actor=manager, review=review, users=[act.reviewer])
    services.comment(actor=act.reviewer, review=review, text="为什么有尖峰？" * 20)
    services.confirm_receipt(actor=act.reviewer, review=review,
                             keys=[items_of(review, "en")[0].key])
    act.decide(review, "conditional", conditions=[
        {"description": "补充手册", "owner": "周启明", "due_on": date(2026, 12, 31)}])
    act.sign_and_seal(review)
    services.build_bundle(actor=manager, engagement=engagement, document=review.document)


def told() -> tuple[bool, str]:
    out = io.StringIO()
    try:
        call_command("verify", audit=True, language="en", stdout=out)
    except CommandError:
        return False, out.getvalue()
    return True, out.getvalue()


def test_every_table_has_rows_and_none_differs(everything):
    assert [table._meta.label for table in vouched_tables()
            if not table._base_manager.exists()] == []
    assert told()[0], told()[1]


def test_writes_of_many_rows_are_seen_in_every_table():
    """Django sends no signal for them; the tables' own query set notes their rows."""
    assert [table._meta.label for table in vouched_tables()
            if not isinstance(table._default_manager.all(), VouchedQuerySet)] == []


@pytest.mark.slow
def test_an_edit_of_any_column_is_found_and_the_row_named(everything):
    missed, tried = [], 0
    for table in vouched_tables():
        for field in table._meta.concrete_fields:
            row = table._base_manager.order_by("pk").last()
            seen = after(field, row)
            tried += len(seen)
            missed += [(field, rows) for rows in seen if told_of(field, row) not in rows]
    assert missed == []
    assert tried > 4 * len(vouched_tables())


def test_a_row_removed_or_added_behind_the_back_is_named(everything):
    for table in vouched_tables():
        row = table._base_manager.order_by("pk").last()
        with undone():
            sql("DELETE FROM {table} WHERE id = %s", row, [row.pk])
            assert f"{table._meta.label} row {row.pk} is missing" in told()[1]
        with undone():
            row._state.adding, row.pk = True, None
            made = copied(row)
            assert made is None or f"{table._meta.label} row {made} (" in told()[1]


def copied(row: models.Model) -> int | None:
    """The row once more under a new key; None where the database refuses a second one."""
    names = [field.column for field in row._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(f'"{name}"' for name in names)
    try:
        with transaction.atomic():
            sql(f"INSERT INTO {{table}} (id, {columns}) SELECT 7000001, {columns} FROM {{table}} "
                f"WHERE id = (SELECT max(id) FROM {{table}})", row, [])
    except IntegrityError:
        return None
    return 7_000_001


def told_of(field: models.Field, row: models.Model) -> tuple:
    """Table, key, what happened, and to which columns."""
    if field.primary_key:
        return type(row), str(row.pk), "missing", ()
    return type(row), str(row.pk), "changed", (field.attname,)


def found() -> list[tuple]:
    return [(one.table, one.key, one.problem, one.columns) for one in audit.row_differences()]


def after(field: models.Field, row: models.Model) -> list[list[tuple]]:
    """What is found after the column was changed behind the application's back; then it is undone.

    Nothing for a column that the log leaves out, or whose change the database itself refuses.
    """
    if field.name in LEFT_OUT.get(type(row), ()):
        return []
    for value in others(field, getattr(row, field.attname)):
        with undone():
            if changed(field, row, value):
                return [found()]
    return []


@contextmanager
def undone():
    """What happens inside is taken back."""
    before = transaction.savepoint()
    yield
    transaction.savepoint_rollback(before)


def changed(field: models.Field, row: models.Model, value) -> bool:
    try:
        with transaction.atomic():
            sql(f'UPDATE {{table}} SET "{field.column}" = %s WHERE id = %s', row, [value, row.pk])
    except (IntegrityError, DataError):
        return False
    return True


def sql(text: str, row: models.Model, values: list) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text.format(table=f'"{row._meta.db_table}"'), values)


SMALL = (models.SmallIntegerField, models.PositiveSmallIntegerField)
TEXT = (models.CharField, models.TextField, models.FileField, models.GenericIPAddressField)
OTHERS = [  # values that a column may be changed to, the least change first
    (models.BooleanField, lambda value: [not value]),
    (models.DateTimeField, lambda _value: ["2025-01-01 00:00:00.000001"]),
    (models.DateField, lambda _value: ["2025-01-02"]),
    (models.JSONField, lambda _value: ['{"x": 1}', '["x"]']),
    (TEXT, lambda value: [f"{value}"[:-1] + chr(ord(f"{value}"[-1]) ^ 1) if value else "x"]),
    (SMALL, lambda value: [(value or 0) + 1, 1, 2, 3]),
    (models.Field, lambda _value: [7_000_001, 1, 2, 3]),
]


def others(field: models.Field, value) -> list:
    """Values of the first entry that is about such a column."""
    return next(make(value) for kinds, make in OTHERS if isinstance(field, kinds))
