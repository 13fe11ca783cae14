"""Every kind of document: what it holds, what stops it, and which files are made of it."""

import io
import json
from datetime import date
from decimal import Decimal
from types import SimpleNamespace

import docx
import openpyxl
import pytest
from django.utils import timezone
from django.utils.translation import override

from delivery.demo.sample_firm import SAMPLE, TUNING
from delivery.demo.scenario import Scenario
from delivery.documents.bilingual import in_language
from delivery.planning.services import control
from delivery.quotes import services as quoting
from delivery.reports import registry, services, standard_text
from delivery.reports.facts import snapshot
from delivery.reports.issue_checks.checks import problems_of
from delivery.reports.kind_checks import check_kinds
from delivery.reports.models import Document
from delivery.reports.office.word_document import document_docx
from delivery.reports.office.workbook import document_xlsx
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role, StageRecord
from engagements.stages import StageMove, StageState
from tests.delivery.conftest import HOSTILE_CELL
from tests.document_steps import issued_document

CODES = ["AS", "SOW", "MP", "AC", "BL", "EC", "TR", "UG", "PA", "PL", "FA", "HD"]


def parts_of(code: str) -> set[str]:
    kind = registry.get(code)
    return {part for section in (*kind.sections, *kind.annexes) for part in section.all_parts}


def fewest_kinds() -> list[str]:
    """Those that together have every format and every part with a template of its own; tables and
    passages share one each."""
    left = {code: {*registry.get(code).formats, *(part.split(":")[0] if part.startswith((
        "table:", "words:")) else part for part in parts_of(code))} for code in CODES}
    found = []
    while any(left.values()):
        found.append(max(left, key=lambda code: len(left[code])))
        seen = left[found[-1]]
        left = {code: parts - seen for code, parts in left.items()}
    return found


def drafted(engagement, people, kind: str) -> Document:
    return services.draft_document(actor=people[Role.MANAGER], engagement=engagement, kind=kind)


def obstacles(document) -> dict[str, str]:
    """Sentences in English, each with its page."""
    with override("en"):
        return {problem.sentence: problem.url for problem in problems_of(document)}


def sentences(document) -> str:
    return " ".join(obstacles(document))


def test_the_kinds_stand_in_the_order_of_the_stages():
    assert [kind.code for kind in registry.all_kinds()] == CODES


def test_every_kind_is_whole():
    """Every part that a chapter names exists, also as a Word file."""
    assert check_kinds(None) == []


@pytest.mark.parametrize("code", CODES)
def test_every_table_of_a_draft_is_printed_and_stands_in_both_languages(planned, people, code):
    document, named = drafted(planned, people, code), parts_of(code)
    in_annex = {"table:passage", "table:assets", "table:deliverables"} if code == "TR" else set()
    assert {f"table:{key}" for key in document.snapshot.get("tables", {})} <= named | in_annex
    chinese, english = (json.dumps(in_language(document.snapshot, language), ensure_ascii=False)
                        for language in ("zh-hans", "en"))
    assert chinese != english
    assert '"zh-hans"' not in chinese + english
    rows = [(len(row), len(entry["columns"])) for entry in document.snapshot.get(
        "tables", {}).values() for row in entry["rows"]]
    assert all(cells == columns for cells, columns in rows)


def test_a_statement_of_work_takes_its_facts_from_the_agreement(planned, people, quoted):
    """What the firm estimates for itself is in none of its tables."""
    tables = in_language(drafted(planned, people, "SOW").snapshot, "en")["tables"]
    assert [row[1] for row in tables["tasks"]["rows"]] == [
        "Survey", "Design", "Environment preparation", "Training adaptation", "Training tuning",
        "Inference migration", "Inference tuning", "Acceptance", "Total"]
    assert [(row[1], row[7]) for row in tables["tasks"]["rows"] if row[7] != "–"] == [
        ("Training adaptation", "10.0"), ("Total", "10.0")]
    assert [row[1] for row in tables["staffing"]["rows"]] == ["10.0", "10.0"]
    assert [row[3] for row in tables["milestones"]["rows"]] == ["30 %", "40 %", "30 %"]
    assert tables["deliverables"]["empty"] == "not agreed"
    assert ["Warranty", "3 months"] in tables["terms"]["rows"]
    assert ["Target platform", "not agreed"] in tables["terms"]["rows"]


def test_each_obstacle_leads_to_its_cure(delivered, people):
    document = drafted(delivered, people, "SOW")
    found = obstacles(document)
    assert found["Fill in the start and the end of the engagement."] == (
        "/engagements/EP2501/edit/")
    assert found["Make the plan: the schedule comes from it."] == "/engagements/EP2501/plan/"
    assert found["Issue a quotation: the fee comes from it."] == "/engagements/EP2501/quotes/"
    with pytest.raises(InvalidInput) as refused:
        issued_document(document, people, is_checked=True)
    assert len(refused.value.details["cures"]) == len(found)


def test_a_draft_that_contradicts_the_records_is_stopped(planned, people):
    document = drafted(planned, people, "PL")
    assert obstacles(document) == {}
    issue = planned.project_issues.get()
    control.update_issue(actor=people[Role.MANAGER], issue=issue, closed_on=date(2025, 9, 20))
    assert list(obstacles(document)) == ["Table “Outstanding issues” no longer matches the "
                                         "records; refresh the data."]
    services.refresh_draft(actor=people[Role.MANAGER], document=document)
    assert obstacles(Document.objects.get(pk=document.pk)) == {}


@pytest.mark.slow
def test_facts_do_not_depend_on_the_reader_s_language(delivered, people):
    manager, now = people[Role.MANAGER], timezone.now()
    manager.full_name_en = "Lin Xue"
    manager.save()
    record = StageRecord.objects.filter(model__engagement=delivered).first()
    StageRecord.objects.filter(pk=record.pk).update(
        state=StageState.PASSED, started_at=now, passed_at=now)
    record.transitions.create(move=StageMove.PASS, from_state=StageState.SUBMITTED,
                              to_state=StageState.PASSED, actor=manager, at=now)
    document, made = drafted(delivered, people, "TR"), []
    for language in ("zh-hans", "en"):
        with override(language):
            made.append(snapshot.collect(document, now=now))
    assert made[0] == made[1]


@pytest.mark.slow
def test_a_report_that_leaves_out_a_run_is_stopped(delivered, people):
    from workers.models import Job

    document = drafted(delivered, people, "TR")
    Job.objects.create(kind="env.npu_info", engagement=delivered, state="failed",
                       finished_at=timezone.now())
    assert "“Testing performed” no longer matches the records" in sentences(document)


@pytest.mark.slow
def test_a_passage_that_nobody_wrote_stops_the_report(planned, people):
    document = drafted(planned, people, "AS")
    assert "Write the passage “Conclusion”." in sentences(document)
    document = services.write_words(
        actor=people[Role.CONSULTANT], document=document,
        words={"as_conclusion": {"zh": "可行", "en": "Feasible"}, "as_advice": {"zh": "启动"}})
    assert "passage" not in sentences(document)
    assert in_language(document.snapshot, "en")["words"]["as_conclusion"]["text"] == "Feasible"
    assert in_language(document.snapshot, "en")["words"]["as_advice"]["text"] == "启动"


def test_a_passage_of_another_kind_is_refused(planned, people):
    document = drafted(planned, people, "PL")
    for words in ({"as_advice": {"zh": "x"}}, {"pl_statement": {"zh": "x" * 8001}}):
        with pytest.raises(InvalidInput):
            services.write_words(actor=people[Role.MANAGER], document=document, words=words)


def test_an_unconfirmed_baseline_stops_the_baseline_sheet(delivered, people):
    from assessments.models import Baseline

    document = drafted(delivered, people, "BL")
    assert "not confirmed" not in sentences(document)  # frozen by the signed criteria
    Baseline.objects.update(frozen_at=None)
    assert "is not confirmed by both sides" in sentences(document)


@pytest.mark.slow
def test_a_draft_that_shows_an_old_verdict_is_stopped(delivered, people):
    document = drafted(delivered, people, "TR")
    assert problems_of(document) == []
    row = next(r for r in document.snapshot["metrics"] if r["outcome"] == "passed")
    row["outcome"] = "failed"
    assert "does not show the latest verdict" in sentences(document)


@pytest.mark.slow
def test_a_paper_on_verdicts_shows_what_the_records_say_now(delivered, people):
    """Tables, waivers and the documents it refers to; what moved on since stops the issuing."""
    from engagements.models import StageRecord

    manager = people[Role.MANAGER]
    sheet = issued_document(drafted(delivered, people, "AC"), people, is_checked=True)
    drafts = [drafted(delivered, people, kind) for kind in ("TR", "PA", "FA")]
    assert [problems_of(draft) for draft in drafts] == [[], [], []]
    control.add_issue(actor=manager, engagement=delivered, description="新问题", level="minor",
                      raised_on=date(2025, 9, 1), due_on=date(2025, 9, 30), owner=manager)
    StageRecord.objects.filter(model__code="PSR", stage="survey").update(
        state="passed", passed_at=timezone.now())
    services.withdraw_document(actor=manager, document=sheet, reason="误发")
    for draft in drafts:
        found = sentences(draft)
        assert "Table “Outstanding issues” no longer matches the records" in found
        assert "“Models and stages” no longer matches the records" in found
        assert f"{sheet.number} V1.0, to which the draft refers, is no longer in force" in found
    for title in ("Stages of the models", "Progress of each model through its stages"):
        assert f"Table “{title}” no longer matches" in sentences(drafts[0])
    again = services.refresh_draft(actor=manager, document=drafts[0])
    assert problems_of(again) == []


@pytest.mark.slow
def test_a_raw_file_that_is_gone_breaks_the_link(delivered, people):
    document = drafted(delivered, people, "TR")
    listed = document.snapshot["evidence"][0]
    document.snapshot["evidence"].append({**listed, "id": 10**6, "name": "gone.log"})
    assert "gone.log is broken" in sentences(document)


@pytest.mark.slow
def test_practice_rows_in_an_unmarked_engagement_are_stopped(practised, people):
    document = drafted(practised, people, "TR")
    assert document.is_practice
    assert "practice" not in sentences(document)
    practised.has_practice_data = False
    practised.save()
    assert "holds practice data" in sentences(document)


@pytest.mark.parametrize("code", ["AC", "PL", "HD"])
def test_a_workbook_holds_text_never_formulas(planned, people, code):
    document = drafted(planned, people, code)
    first, second = (document_xlsx(document.snapshot, "en") for _n in range(2))
    assert first == second
    book = openpyxl.load_workbook(io.BytesIO(first))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    captions = {entry["caption"] for entry in in_language(document.snapshot, "en")[
        "tables"].values()}
    assert captions <= {cell.value for cell in cells} | set(book.sheetnames)
    if code == "PL":
        assert f"'{HOSTILE_CELL}" in [cell.value for cell in cells]


@pytest.mark.slow
def test_the_word_file_can_be_edited_and_names_its_hash(planned, people):
    document = drafted(planned, people, "SOW")
    first, second = (document_docx(document.snapshot, "zh-hans") for _n in range(2))
    assert first == second
    word = docx.Document(io.BytesIO(first))
    headings = [p.text for p in word.paragraphs if p.style.name == "Heading 1"]
    assert len(headings) == len(registry.get("SOW").sections)
    text = "\n".join(cell.text for table in word.tables for row in table.rows for cell in row.cells)
    assert "在 NPU 上训练，参数更新并产出权重文件" in text


def test_who_drafts_which_kind(delivered, people):
    for kind in ("AS", "SOW", "EC"):
        services.draft_document(actor=people[Role.CONSULTANT], engagement=delivered, kind=kind)
    for kind in ("TR", "FA", "PA"):
        with pytest.raises(NotAllowed):
            services.draft_document(actor=people[Role.CONSULTANT], engagement=delivered, kind=kind)
    with pytest.raises(WrongState):
        drafted(delivered, people, "AS")
    with pytest.raises(InvalidInput):
        drafted(delivered, people, "XX")


def test_a_standard_text_is_data_and_changes_no_document(delivered, people, client):
    document = drafted(delivered, people, "PL")
    client.force_login(people[Role.MANAGER])
    client.post("/documents/standard-texts/pl_statement/", {"zh": "本公司的说法",
                                                            "en": "Our words"})
    kind = registry.get("PL")
    assert standard_text.standard_words(kind)["pl_statement"] == {"zh": "本公司的说法",
                                                                  "en": "Our words"}
    document.refresh_from_db()
    assert document.words["pl_statement"] == standard_text.shipped("pl_statement")
    preview = client.post("/documents/standard-texts/pl_statement/preview/",
                          {"zh": "- 甲\n- <b>乙</b>"})
    assert "<li>甲</li>" in preview.content.decode()
    assert "<b>" not in preview.content.decode()
    client.post("/documents/standard-texts/pl_statement/reset/")
    assert standard_text.standard_words(kind)["pl_statement"] == standard_text.shipped(
        "pl_statement")


def test_pages_show_the_kinds_and_their_drafts(planned, people, client):
    document = drafted(planned, people, "AS")
    client.force_login(people[Role.CONSULTANT])
    page = client.get("/engagements/EP2501/documents/",
                      headers={"accept-language": "en"}).content.decode()
    assert all(str(kind.title) in page for kind in registry.all_kinds())
    page = client.get(f"/documents/{document.pk}/",
                      headers={"accept-language": "en"}).content.decode()
    assert f'href="/documents/{document.pk}/texts/"' in page
    saved = client.post(f"/documents/{document.pk}/texts/", {"as_conclusion-zh": "可行"})
    assert saved.status_code == 302
    document.refresh_from_db()
    assert document.words["as_conclusion"]["zh"] == "可行"


@pytest.mark.slow
@pytest.mark.parametrize("spec", [SAMPLE, TUNING], ids=lambda spec: spec.code)
def test_the_days_of_a_sample_s_statement_of_work_add_up(planned, people, firm, spec):
    """By stage, by grade and by service it is the same sum, the one that was quoted."""
    quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    steps = SimpleNamespace(engagement=planned, spec=spec, who={
        "sales": people[Role.SALES], "consultant": people[Role.CONSULTANT],
        "manager": people[Role.MANAGER]})
    steps.quote = Scenario._quote(steps)
    Scenario._issue_quote(steps)
    tables = in_language(drafted(planned, people, "SOW").snapshot, "en")["tables"]
    stages, grades, services_ = ([Decimal(row[-1]) for row in tables[name]["rows"]
                                  if row[-1] != "–"] for name in ("tasks", "staffing", "services"))
    assert sum(stages[:-1]) == stages[-1] == sum(grades[:-1]) == grades[-1] == sum(services_)
    assert grades[-1] == sum(spec.quoted)
    assert [row[1] for row in tables["tasks"]["rows"]][-2:] == ["Several stages", "Total"]
