"""The portfolio's workbook is sent while it is written, whatever number of engagements it has."""

import io
import tracemalloc
import zipfile
from datetime import date
from decimal import Decimal

import pytest
from django.http import QueryDict
from django.urls import reverse
from openpyxl import load_workbook

from delivery.documents.office.streamed_workbook import streamed_workbook
from delivery.portal.portfolio import workbook
from delivery.portal.portfolio.columns import columns_for
from delivery.portal.portfolio.rows import portfolio_engagements
from engagements.models import Engagement, Role

ROWS, BATCHES = 4_000, 40
MANY = 20_000


def add_engagements(engagement, count):
    Engagement.objects.bulk_create(
        [Engagement(code=f"F{number:05}", name=f"大模型迁移 {number}", customer=engagement.customer)
         for number in range(count)], batch_size=2_000)


@pytest.fixture
def batches_read(monkeypatch):
    """How many engagements each read of figures was for."""
    monkeypatch.setattr(workbook, "BATCH", ROWS // BATCHES)
    read, rows_of = [], workbook.rows_of

    def counted(some, **options):
        read.append(len(some))
        return rows_of(some, **options)

    monkeypatch.setattr(workbook, "rows_of", counted)
    return read


@pytest.mark.slow
def test_it_is_sent_before_the_rows_are_read(client, people, engagement, batches_read):
    add_engagements(engagement, ROWS - 1)
    client.force_login(people[Role.ADMINISTRATOR])
    answer = client.get(reverse("portal:portfolio_export"))
    pieces = iter(answer.streaming_content)
    sent, first = next(pieces), list(batches_read)
    while not batches_read:
        sent += next(pieces)
    assert (first, answer.streaming, len(batches_read) < BATCHES / 2) == ([], True, True)
    sent += b"".join(pieces)
    assert batches_read == [workbook.BATCH] * BATCHES
    rows = list(load_workbook(io.BytesIO(sent), read_only=True).active.iter_rows(values_only=True))
    assert len(rows) == ROWS + 3  # a heading, and the filter below an empty row
    assert rows[-1][0].endswith("全部项目")
    assert {row[0] for row in rows[1:-2]} == set(Engagement.objects.values_list("code", flat=True))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(people, engagement):
    """The same peak for 20,000 rows as for 2,000, once everything is loaded."""
    add_engagements(engagement, MANY - 1)

    def peak(most: int) -> int:
        found = portfolio_engagements(people[Role.ADMINISTRATOR], QueryDict())
        pieces = workbook.workbook_of(found[:most], columns_for(people[Role.ADMINISTRATOR]),
                                      title="组合", with_money=True)
        tracemalloc.start()
        try:
            written = sum(map(len, pieces))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            print(f"{most} rows: {written:,} bytes sent")

    peak(1_000)
    few, many = peak(2_000), peak(MANY)
    print(f"peak for 2,000 rows {few / 2**20:.1f} MB, for {MANY} rows {many / 2**20:.1f} MB")
    assert many < 1.5 * few
    assert many < 30 * 2**20


def test_what_a_cell_holds():
    row = ["=1+1", "a < b & c", "  两端 ", None, 3, Decimal("1234.50"), date(2026, 3, 1), 0.25]
    data = b"".join(streamed_workbook("表 <1>", ["甲"] * len(row), iter([[row], [["下"]]])))
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
    sheet = load_workbook(io.BytesIO(data)).active
    assert (sheet.title, sheet.freeze_panes, sheet["A1"].font.bold, sheet["A2"].font.bold) == (
        "表 <1>", "A2", True, False)
    *values, day, share = [cell.value for cell in sheet[2]]
    assert values == ["'=1+1", "a < b & c", "  两端 ", None, 3, 1234.5]
    assert (day.date(), sheet["G2"].is_date, share, sheet["A3"].value) == (
        date(2026, 3, 1), True, 0.25, "下")
