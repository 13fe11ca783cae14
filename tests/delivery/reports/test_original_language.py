"""What people wrote in the other language is marked where it stands, and counted on the cover."""

import io

import docx
import pytest
from django.utils.translation import override

from delivery.documents.bilingual import same
from delivery.reports import services
from delivery.reports.office.word_document import document_docx
from delivery.reports.original_language import with_originals_marked
from delivery.reports.rendering import context_of
from engagements.models import Role
from tests.cached_fixtures import cached_fixture

CHINESE = "标注口径待客户确认后另行书面通知"
ENGLISH = "the customer still has to confirm how it is labelled"
COLUMNS = [{"title": "", "look": look} for look in ("text", "code", "text")]


@pytest.mark.parametrize(("language", "text", "mark", "note"), [
    ("en", CHINESE, " (in Chinese)",
     "2 texts in this document are in Chinese as they were written."),
    ("zh-hans", ENGLISH, "（英文原文）", "本文档有 2 处内容为英文原文。")])
def test_each_text_is_marked_once_and_counted_once(language, text, mark, note):
    own = {"en": ENGLISH, "zh-hans": CHINESE}[language]
    rows = [[text, text, "周启明"], [own, "", text]]
    facts = {"tables": {"a": {"columns": COLUMNS, "rows": rows}},
             "words": {"w": {"text": "1. " + text}}, "open_points": [own], "figures": text}
    with override(language):
        made = with_originals_marked(facts)
        assert made["tables"]["a"]["rows"] == [
            [text + mark, text, "周启明"], [own, "", text + mark]]
        assert made["words"]["w"]["text"] == "1. " + text + mark
        assert (made["open_points"], made["figures"]) == ([own], text)
        assert made["originals_note"] == note
        assert with_originals_marked({"tables": {}})["originals_note"] == ""


def test_in_a_mixed_text_the_mark_stands_behind_the_chinese_part():
    with override("en"):
        made = with_originals_marked({"open_points": [f"Open: {CHINESE}（演练）, by Lin"]})
    assert made["open_points"] == [f"Open: {CHINESE}（演练） (in Chinese), by Lin"]


@pytest.fixture
@cached_fixture
def punch_list(planned, people):
    return services.draft_document(actor=people[Role.MANAGER], engagement=planned, kind="PL")


@pytest.mark.parametrize(("language", "text", "note"), [
    ("en", CHINESE, "1 text in this document is in Chinese as it was written."),
    ("zh-hans", ENGLISH, "本文档有 1 处内容为英文原文。")])
def test_pdf_and_word_say_so(punch_list, language, text, note):
    snapshot = punch_list.snapshot
    entry = next(iter(snapshot["tables"].values()))
    entry["rows"] = [[same(text)] + [""] * (len(entry["columns"]) - 1)]
    entry["columns"][0]["look"] = "text"
    for other in snapshot["tables"].values():
        other["rows"] = other["rows"] if other is entry else []
    snapshot["words"], snapshot["open_points"], snapshot["deviations"] = {}, [], []
    assert context_of(snapshot, language)["originals_note"] == note
    word = docx.Document(io.BytesIO(document_docx(snapshot, language)))
    assert any(note in paragraph.text for paragraph in word.paragraphs)
