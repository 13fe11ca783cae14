"""Long lists stay short in print: stages, environments, files, tasks."""

import pytest
from django.utils import timezone
from django.utils.translation import override

from delivery.documents.bilingual import in_language
from delivery.documents.tables.table import column, table
from delivery.documents.templatetags.document_tags import by_run, day, spans
from delivery.reports import services
from delivery.reports.facts.environments import environments, sides_of
from delivery.reports.facts.run_records import tool_command
from delivery.reports.facts.source import Source
from delivery.reports.facts.stage_history import passage, sent_back
from delivery.reports.models import Document
from delivery.reports.registry import Section
from delivery.reports.rendering import _chapters, as_wide_as_needed
from engagements import services as engagement_services
from engagements.models import Role
from workers.models import Node


@pytest.fixture
def source(delivered) -> Source:
    return Source(Document(engagement=delivered, kind="TR"))


def english(entry: dict) -> list[list[str]]:
    return in_language(entry, "en")["rows"]


def test_a_stage_is_one_line_however_often_it_moved(source, delivered, people):
    manager, record = people[Role.MANAGER], delivered.models.get(code="PSR").stages.first()
    for move in ("start", "submit", "send_back", "start"):
        engagement_services.move_stage(actor=manager, record=record, move=move,
                                       comment="问卷缺两项")
    lines = [row for row in english(passage(source)) if row[0] == "PSR"]
    assert [row[1] for row in lines].count("Survey") == 1
    entered = record.transitions.filter(move="start").order_by("at").first()
    assert lines[0][2] == "In progress"
    assert (lines[0][4], lines[0][5], lines[0][6]) == ("", "", "1")
    assert lines[0][3] == f"{timezone.localtime(entered.at):%Y-%m-%d %H:%M}"
    assert [(row[1], row[4]) for row in english(sent_back(source))] == [("PSR", "问卷缺两项")]


def test_skipped_stages_stand_with_their_reasons_not_among_the_passed(source, delivered, people):
    record = delivered.models.get(code="LLM").stages.get(stage="infer_tune")
    engagement_services.move_stage(actor=people[Role.MANAGER], record=record, move="skip",
                                   comment="自行部署")
    assert ("LLM", "Inference tuning") not in {(r[0], r[1]) for r in english(passage(source))}


def test_models_of_one_environment_share_a_row(source):
    rows = english(environments(sides_of(source.judged, source.survey)))
    items = [row[0] for row in rows]
    assert ["Driver", "LLM", "535.129.03", "24.1.rc2", "differs"] in rows
    assert ["Driver", "PSR", "535.129.03", "not recorded", "–"] in rows
    assert items.count("Random seed") <= 2


def test_a_node_of_the_customer_is_named_in_the_environments(source, delivered):
    """Acceptance takes place on the customer's platform (seed S2)."""
    def platform():
        rows = english(environments(sides_of(source.judged, source.survey)))
        return [row for row in rows if row[0] == "Platform of"]

    assert platform() == []
    Node.objects.update(is_customers=True)
    source.__dict__.pop("judged", None)
    assert ["Platform of", "LLM", "not recorded", "the customer", "–"] in platform()


def test_files_of_a_run_stand_under_it():
    rows = [{"id": n, "job": job, "model": "", "who": "a", "when": "t"}
            for n, job in [(1, 7), (2, None), (3, 7), (4, 5)]]
    assert [[row["id"] for row in group["rows"]] for group in by_run(rows)] == [[2], [4], [1, 3]]


@pytest.mark.parametrize(("numbers", "text"), [
    ([], ""), ([4], "4"), ([0, 1, 2, 3, 4, 5, 6, 7], "0–7"), ([6, 0, 1, 3], "0–1, 3, 6")])
def test_cards_are_shown_as_spans(numbers, text):
    assert spans(numbers) == text


def test_commands_are_told_without_the_scripts_around_them():
    script = "m=$1 w=$2; set -- --weight=\"$w\"\nexec atc"
    assert tool_command(["sh", "-c", script, "atc", "", "a&b.onnx", ""]) == ["atc", "a&b.onnx"]
    script = 'mkdir -p bench && exec python3 -m ais_bench --output bench "$@"'
    assert tool_command(["sh", "-c", script, "bench", "--model", "x.om"]) == [
        "python3", "-m", "ais_bench", "--output", "bench", "--model", "x.om"]
    assert tool_command(["npu-smi", "info"]) == ["npu-smi", "info"]
    assert tool_command(["python3", "-c", "print()", "~/data", "", ""]) == [
        "python3", "-c", "print()", "~/data"]
    assert tool_command(["tool", "--name", ""]) == ["tool", "--name", ""]  # a value of its own


@pytest.mark.parametrize(("language", "shown"), [("en", "2025-06-05"), ("zh-hans", "2025年6月5日")])
def test_a_day_is_written_as_the_language_does(language, shown):
    with override(language):
        assert [day(text) for text in ("2025-06-05", "2025-06-05 08:00", "", "–")] == [
            shown, f"{shown} 08:00", "", "–"]


def test_only_rows_that_need_it_turn_the_page():
    """No rows, or few that find room upright, stay; many rows or many columns turn it."""
    section = Section("issues", "Issues", ("part:unpassed", "table:issues"), is_wide=True)

    def is_wide(rows: int, columns: int) -> bool:
        entry = table(lambda: "", [column(lambda: "No.", "code")] * columns,
                      [["I-001"] * columns] * rows)
        return as_wide_as_needed(section, {"tables": {
            "issues": in_language(entry, "en")}}).is_wide

    assert [is_wide(*size) for size in ((0, 14), (8, 5), (9, 5), (1, 14))] == [
        False, False, True, True]


def test_an_awaited_passage_is_marked_in_a_draft(delivered, people):
    draft = services.draft_document(actor=people[Role.MANAGER], engagement=delivered, kind="AS")
    with override("en"):
        parts = _chapters(in_language(draft.snapshot, "en"), False)["sections"][0]["parts"]
    assert parts[0]["key"] == "as_conclusion"
    issued = {**in_language(draft.snapshot, "en"), "is_draft": False}
    with override("en"):
        parts = _chapters(issued, False)["sections"][0]["parts"]
    assert [part["template"] for part in parts] == [
        "documents/parts/table.html", "documents/parts/model_table.html"]
