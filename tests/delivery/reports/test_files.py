"""Widths of columns, pictures drawn once, office files whose bytes depend on nothing but facts."""

import io
import zipfile
from random import Random

import pytest
from openpyxl import Workbook

from delivery.documents import chart_cache
from delivery.documents.bilingual import LANGUAGES
from delivery.documents.office.deterministic_zip import deterministic_zip
from delivery.documents.tables.column_widths import column_widths
from delivery.documents.tables.lowest_rows import SLACK, lowest
from delivery.documents.tables.text_lines import line_count, lines_of
from delivery.reports import services, tasks
from delivery.reports.rendering import context_of, paragraphs
from engagements.models import Role

WORDS = ("loss", "迁移", "conversion", "已通过", "x", "the figure of the run")
BARS = {"mark": "bar", "data": {"values": [{"x": "a", "y": 1}]},
        "encoding": {"x": {"field": "x", "type": "nominal"},
                     "y": {"field": "y", "type": "quantitative"}}}


def entry(rows, *looks):
    return {"columns": [{"title": f"column {n}", "look": look} for n, look in enumerate(looks)],
            "rows": rows}


@pytest.mark.parametrize("total", [170, 261])
@pytest.mark.parametrize("rows", [
    [], [["1", "短", "a" * 64]], [["12345", "很长的说明" * 30, "f" * 64]] * 3])
def test_widths_fill_the_table(rows, total):
    widths = column_widths(entry(rows, "number", "text", "hash"), total)
    assert sum(widths) == pytest.approx(100, abs=0.1)
    assert min(widths) > 4


def test_long_texts_get_more_room_than_short_ones():
    rows = [["是", "很长的说明文字" * 12], ["否", "很长的说明文字" * 9]]
    short, long = column_widths(entry(rows, "text", "text"), 170)
    assert long > 3 * short


def test_a_column_that_fits_leaves_the_room_to_others():
    rows = [["V1", "很长的说明文字" * 12], ["V2", "很长的说明文字" * 9]]
    short, _long = column_widths(entry(rows, "text", "text"), 170)
    assert short * 1.7 < 24  # its heading and no more
    empty, _long = column_widths(entry([["", "说明"]] * 2, "text", "text"), 170)
    assert empty * 1.7 > 24  # room to write


@pytest.mark.parametrize("seed", range(30))
def test_moving_room_never_makes_rows_higher_nor_a_column_too_narrow(seed):
    chance = Random(seed)
    rows = [[" ".join(chance.choices(WORDS, k=chance.randint(0, most))) for most in (2, 9, 40)]
            for _n in range(chance.randint(1, 12))]
    cells = [[lines_of(text) for text in row] for row in rows]
    begun, least = [40.0, 65.0, 65.0], {0: 15.0, 2: 30.0}
    found = lowest(cells, begun, least, [1, 1, 1], 4)
    assert sum(found) == pytest.approx(sum(begun))
    assert found[1] == begun[1]  # it neither gives nor takes
    assert all(found[n] >= width for n, width in least.items())
    assert lines(cells, found) <= lines(cells, begun)


def test_a_long_text_gets_the_room_of_a_short_one_beside_it():
    cells = [[lines_of("ok"), lines_of("All losses are finite. " * 9)]] * 5
    found = lowest(cells, [85.0, 85.0], {0: 13.0, 1: 13.0}, [1, 1], 4)
    assert lines(cells, found) < lines(cells, [85.0, 85.0])


def lines(cells: list, widths: list[float]) -> int:
    return sum(max(line_count(cell, width - 4 + SLACK) for cell, width in zip(
        row, widths, strict=True)) for row in cells)


@pytest.mark.parametrize(("text", "room", "count"), [
    ("", 10, 1), ("短", 3, 1), ("四个汉字", 12, 1), ("四个汉字", 11, 2), ("a\nb\n", 50, 3),
    ("one two", 9, 2), ("one two", 50, 1), ("a" * 100, 20, 9), ("中" * 100, 30, 10)])
def test_lines_of_a_text(text, room, count):
    assert line_count(lines_of(text), room) == count


PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"><g class="a"><path d="M0,0" /></g></svg>'
TITLED = ('<svg xmlns="http://www.w3.org/2000/svg"><title>图 &lt;1&gt;</title>'
          '<path d="M0,0" /></svg>')


def test_a_picture_is_drawn_once(monkeypatch, settings):
    drawings = []
    monkeypatch.setattr(chart_cache, "as_svg", lambda spec: drawings.append(spec) or PICTURE)
    assert [chart_cache.drawn(BARS, "图 <1>"), chart_cache.drawn(BARS, "图 <1>")] == [TITLED,
                                                                                    TITLED]
    chart_cache.drawn({**BARS, "mark": "line"}, "图")
    assert len(drawings) == 2
    assert chart_cache.drawn({}, "图") == ""


def test_pictures_of_a_draft_are_drawn_before_its_paper_asks(
        delivered, people, monkeypatch, django_capture_on_commit_callbacks):
    asked, drawings = [], []
    monkeypatch.setattr("delivery.reports.services.chart_drawing.enqueue_on_commit",
                        lambda *args, expires: asked.append(args))
    monkeypatch.setattr(chart_cache, "as_svg", lambda spec: drawings.append(spec) or PICTURE)
    with django_capture_on_commit_callbacks(execute=True):
        draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    assert asked == [("reports.draw", draft.pk)]
    wanted = [curve["spec"][language] for curve in draft.snapshot["curves"]
              for language in LANGUAGES]
    tasks.draw(draft.pk)
    assert len(drawings) == len(wanted)
    assert all(spec in drawings for spec in wanted)  # jsonb keeps no order of the languages
    assert services.draw_pictures(draft.pk) == 0  # a doubled message
    assert services.draw_pictures(0) == 0  # a draft that was thrown away
    context_of(draft.snapshot, "en")
    assert len(drawings) == len(wanted)  # what was drawn ahead is what the document shows


def test_the_time_of_writing_leaves_no_trace():
    def written() -> bytes:
        book, data = Workbook(), io.BytesIO()
        book.active["A1"] = "x"
        book.save(data)
        return data.getvalue()

    first, second = deterministic_zip(written(), "2025-06-25"), deterministic_zip(written(),
                                                                                  "2025-06-25")
    assert first == second
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
        assert "2025-06-25T00:00:00Z" in archive.read("docProps/core.xml").decode()


def test_lists_and_paragraphs():
    assert list(paragraphs("Intro\n\n- a\n- b\nEnd")) == [
        {"text": "Intro"}, {"bullets": ["a", "b"]}, {"text": "End"}]
    assert list(paragraphs("")) == []
