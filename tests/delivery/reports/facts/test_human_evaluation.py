"""Human evaluations in the test report: concluded ones only, and no table without any."""

import io
import json

from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import load_workbook

from assessments import services
from assessments.human_evaluation.sheet import HEAD_ROW, rating_sheet
from delivery.documents.bilingual import in_language
from delivery.reports.facts.human_evaluation import human_evaluation
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.models import Role
from engagements.services import add_model
from tests.delivery.conftest import stored


def answers(side: str) -> bytes:
    return "\n".join(json.dumps({"prompt": str(n), "answer": f"{side} {n}"})
                     for n in range(4)).encode()


def rated(evaluation, rater: str) -> SimpleUploadedFile:
    """Every item: the migrated model's answer is the better one, the first item is a tie."""
    book = load_workbook(io.BytesIO(rating_sheet(evaluation, "en")))
    page = book.worksheets[0]
    page["C3"] = rater
    for row in range(HEAD_ROW + 1, HEAD_ROW + 5):
        better = "A" if page.cell(row, 3).value.startswith("NPU") else "B"
        page.cell(row, 5).value = "=" if row == HEAD_ROW + 1 else better
    data = io.BytesIO()
    book.save(data)
    return SimpleUploadedFile("rating.xlsx", data.getvalue())


def test_a_concluded_evaluation_stands_in_the_test_report(people, engagement):
    actor = people[Role.CONSULTANT]
    model = add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM", name="大模型")
    source = Source(Document(engagement=engagement, kind="TR"))
    assert human_evaluation(source) == {}
    evaluation = services.start_evaluation(
        actor=actor, model=model, name="Chat",
        baseline_file=stored(engagement, model, "gpu.jsonl", answers("GPU")),
        candidate_file=stored(engagement, model, "npu.jsonl", answers("NPU")))
    for rater in ("One", "Two", "Three"):
        services.import_rating(actor=actor, evaluation=evaluation, upload=rated(evaluation, rater))
    assert human_evaluation(source) == {}  # blind until it is concluded
    evaluation = services.conclude_evaluation(actor=actor, evaluation=evaluation)
    table = in_language(human_evaluation(source), "en")["human"]
    assert table["rows"] == [["LLM", "Chat", "4", "3", "9 / 3 / 0", "100.0%",
                              "κ = 1.000 (Fleiss (1971))", f"E{evaluation.report_id}"]]
