"""Human evaluation: blind sheet out, ratings in, agreement, result as a measurement and verdict."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.translation import override
from openpyxl import load_workbook
from rest_framework.test import APIClient

from assessments import services
from assessments.human_evaluation.results import results_of
from assessments.human_evaluation.sheet import HEAD_ROW, rating_sheet, read_sheet
from assessments.models import HumanEvaluation
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from toolreaders.verdicts.agreement import agreement
from toolreaders.verdicts.preferences import candidate_side, not_worse, preference
from toolreaders.verdicts.quantities import quantities

PROMPTS = [f"问题 {number}" for number in range(1, 9)]


@pytest.fixture(autouse=True)
def english():
    with override("en"):
        yield


def lines(side: str, prompts=PROMPTS) -> bytes:
    return "\n".join(json.dumps({"prompt": prompt, "answer": f"{side} {prompt}"},
                                ensure_ascii=False) for prompt in prompts).encode()


@pytest.fixture
def evaluation(people, model, store) -> HumanEvaluation:
    return services.start_evaluation(
        actor=people[Role.CONSULTANT], model=model, name="对话质量",
        instruction="=哪个回答更好？", baseline_file=store("gpu.jsonl", lines("GPU"), model),
        candidate_file=store("npu.jsonl", lines("NPU"), model))


def filled(evaluation, rater: str, choose, language="zh-hans") -> SimpleUploadedFile:
    """The exported sheet with a choice per item; `choose` gets number, answer A and answer B."""
    book = load_workbook(io.BytesIO(rating_sheet(evaluation, language)))
    page = book.worksheets[0]
    page["C3"] = rater
    for row in range(HEAD_ROW + 1, HEAD_ROW + 1 + len(evaluation.items)):
        number, _prompt, first, second = (page.cell(row, column).value for column in range(1, 5))
        page.cell(row, 5).value = choose(number, first, second)
    data = io.BytesIO()
    book.save(data)
    return SimpleUploadedFile(f"{rater}.xlsx", data.getvalue())


def prefers(side: str, *ties: int):
    """A rater who knows better than the sheet says: chooses that platform's answer."""
    return lambda number, first, _second: "=" if number in ties else (
        "A" if first.startswith(side) else "B")


def rate(people, evaluation, rater, choose):
    return services.import_rating(actor=people[Role.CONSULTANT], evaluation=evaluation,
                                  upload=filled(evaluation, rater, choose))


def test_kappa_of_two_raters_is_cohens():
    """Two raters, 50 items, 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: κ = 0.4."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    found = agreement([[a for a, _b in pairs], [b for _a, b in pairs]])
    assert (found.method, found.items) == ("cohen", 50)
    assert (found.observed, found.expected) == (pytest.approx(0.7), pytest.approx(0.5))
    assert found.kappa == pytest.approx(0.4)


def test_kappa_of_more_raters_is_fleiss():
    """The example of Fleiss' kappa with 14 raters, 10 items and 5 categories: κ = 0.210."""
    counts = [(0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
              (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)]
    items = [[str(category) for category, n in enumerate(row) for _i in range(n)]
             for row in counts]
    found = agreement(list(zip(*items, strict=True)))
    assert (found.method, found.raters, found.items) == ("fleiss", 14, 10)
    assert found.observed == pytest.approx(0.378, abs=5e-4)
    assert found.expected == pytest.approx(0.213, abs=5e-4)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(("ratings", "kappa", "items"), [
    ([["A", None], [None, "A"]], None, 0), ([["A", "A"], ["A", "A"]], None, 2),
    ([["A", "B", None], ["A", "B", "A"]], 1.0, 2)])
def test_agreement_counts_items_that_all_rated(ratings, kappa, items):
    found = agreement(ratings)
    assert (found.kappa, found.items) == (kappa, items)
    assert agreement(ratings[:1]) is None


def test_sides_follow_the_stored_seed_and_both_occur():
    sides = [candidate_side(20260101, number) for number in range(1, 201)]
    assert sides == [candidate_side(20260101, number) for number in range(1, 201)]
    assert 70 < sides.count("A") < 130
    assert sides != [candidate_side(20260102, number) for number in range(1, 201)]
    assert [preference(choice, "A") for choice in ("A", "B", "=")] == ["better", "worse", "same"]


def test_the_sheet_is_blind_and_holds_both_answers(evaluation):
    page = load_workbook(io.BytesIO(rating_sheet(evaluation, "en"))).worksheets[0]
    assert page["B2"].value == "'=哪个回答更好？"  # no program takes it for a formula
    seen = set()
    for number, prompt in enumerate(PROMPTS, 1):
        row = [page.cell(HEAD_ROW + number, column).value for column in range(1, 6)]
        assert row[:2] + row[4:] == [number, prompt, None]
        assert {row[2], row[3]} == {f"GPU {prompt}", f"NPU {prompt}"}
        assert row[2].startswith("NPU") is (candidate_side(evaluation.seed, number) == "A")
        seen.add(row[2][:3])
    words = {str(cell.value) for row in page.iter_rows(max_row=HEAD_ROW) for cell in row}
    assert not any(str(evaluation.seed) in word or "NPU" in word for word in words)


def test_ratings_of_several_people_become_a_measured_share(people, evaluation):
    evaluation_sheet_choices = {"甲": prefers("NPU", 1, 2), "乙": prefers("NPU", 1),
                                "丙": prefers("GPU", 1)}
    for rater, choose in evaluation_sheet_choices.items():
        rate(people, evaluation, rater, choose)
    evaluation = services.conclude_evaluation(actor=people[Role.CONSULTANT], evaluation=evaluation)
    found = results_of(evaluation)
    assert [(c.name, c.better, c.same, c.worse) for c in found.raters] == [
        ("甲", 6, 2, 0), ("乙", 7, 1, 0), ("丙", 0, 1, 7)]
    assert (found.whole.rated, found.whole.not_worse) == (24, pytest.approx(17 / 24))
    assert (found.agreement.method, found.agreement.items) == ("fleiss", 8)
    measured = evaluation.report.measurements.get(quantity="human_not_worse")
    assert (measured.value, measured.unit) == (pytest.approx(17 / 24), "%")
    stored = json.loads(evaluation.report.file.read())
    assert stored["ratings"][0]["choices"].count("=") == 2
    assert not_worse(stored) == pytest.approx(17 / 24)
    [retained] = quantities("node_report", {**stored, "form": stored["desk_report"]})
    assert retained.value == measured.value
    assert {entry.action for entry in AuditEntry.objects.all()} >= {
        "human_evaluation.start", "human_evaluation.rate", "human_evaluation.conclude"}


def test_a_newer_sheet_of_the_same_rater_replaces_the_older(people, evaluation):
    rate(people, evaluation, "甲", prefers("NPU"))
    again = rate(people, evaluation, "甲", lambda *_row: "=")
    assert evaluation.ratings.get() == again
    assert again.choices == ["="] * 8


def changed(evaluation, cell, value):
    book = load_workbook(filled(evaluation, "甲", prefers("NPU")))
    book.worksheets[0][cell] = value
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


@pytest.mark.parametrize(("cell", "value", "message"), [
    ("C3", " ", "C3"), ("E7", "C", "Cell E7"), ("C8", "other answer", "Row 8"),
    ("A9", 1, "Row 9"), ("A9", None, "Row 9"), ("A9", 77, "Row 9")])
def test_a_changed_sheet_is_refused_with_its_cell(evaluation, cell, value, message):
    with pytest.raises(InvalidInput, match=message):
        read_sheet(evaluation, changed(evaluation, cell, value))


def test_the_sheet_of_another_evaluation_and_no_workbook_are_refused(people, model, store,
                                                                       evaluation):
    other = services.start_evaluation(
        actor=people[Role.CONSULTANT], model=model, name="x",
        baseline_file=evaluation.baseline_file, candidate_file=evaluation.candidate_file)
    sheet = filled(evaluation, "甲", prefers("NPU")).read()
    with pytest.raises(InvalidInput, match="another evaluation"):
        read_sheet(other, sheet)
    with pytest.raises(InvalidInput, match="xlsx"):
        read_sheet(evaluation, b"PK\x03\x04 not a workbook")


@pytest.mark.parametrize(("content", "message"), [
    (b"{", "cannot be read as JSON"), (b'{"prompt": "x"}', "entry 1"), (b"", "holds 0 answers"),
    (lines("GPU", PROMPTS[:3]), "5 prompts"),
    (lines("GPU") + b"\n" + lines("GPU", PROMPTS[:1]), "twice")])
def test_files_that_do_not_pair_are_refused(people, model, store, content, message):
    with pytest.raises(InvalidInput, match=message):
        services.start_evaluation(
            actor=people[Role.CONSULTANT], model=model, name="x",
            baseline_file=store("a.jsonl", content, model),
            candidate_file=store("b.jsonl", lines("NPU"), model))


def test_a_concluded_evaluation_takes_no_rating(people, evaluation):
    with pytest.raises(InvalidInput, match="No rater"):
        services.conclude_evaluation(actor=people[Role.CONSULTANT], evaluation=evaluation)
    rating = rate(people, evaluation, "甲", prefers("NPU"))
    services.conclude_evaluation(actor=people[Role.CONSULTANT], evaluation=evaluation)
    evaluation.refresh_from_db()
    for write in (lambda: rate(people, evaluation, "乙", prefers("NPU")),
                  lambda: services.remove_rating(actor=people[Role.CONSULTANT], rating=rating)):
        with pytest.raises(WrongState, match="concluded"):
            write()


def test_reviewers_see_and_do_not_write(people, evaluation):
    with pytest.raises(NotAllowed):
        services.import_rating(actor=people[Role.REVIEWER], evaluation=evaluation,
                               upload=filled(evaluation, "甲", prefers("NPU")))


@pytest.mark.slow
def test_the_pages_stay_blind_until_the_conclusion(client, people, model):
    client.force_login(people[Role.CONSULTANT])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    code = model.engagement.code
    made = client.post(reverse("assessments:human_evaluation_new", args=[code]), {
        "model": model.pk, "name": "Chat", "baseline_upload": SimpleUploadedFile(
            "gpu.jsonl", lines("GPU")), "candidate_upload": SimpleUploadedFile(
            "npu.jsonl", lines("NPU"))})
    evaluation = HumanEvaluation.objects.get()
    page = reverse("assessments:human_evaluation", args=[evaluation.pk])
    assert made.url == page
    sheet = client.get(reverse("assessments:human_evaluation_sheet", args=[evaluation.pk]))
    assert load_workbook(io.BytesIO(sheet.content)).worksheets[0].title == "Rating"
    address = reverse("assessments:human_evaluation_rate", args=[evaluation.pk])
    refused = client.post(address, {"file": SimpleUploadedFile("x.xlsx", b"x")}).content.decode()
    assert "not a valid .xlsx" in refused
    for rater in ("One", "Two"):
        assert client.post(address, {"file": filled(evaluation, rater, prefers("NPU", 3), "en")}
                           ).status_code == 302
    before = client.get(page).content.decode()
    assert "stay hidden" in before
    assert str(evaluation.seed) not in before
    assert client.post(reverse("assessments:human_evaluation_conclude", args=[evaluation.pk])
                       ).status_code == 302
    after = client.get(page).content.decode()
    assert "κ = 1.000, Cohen (1960)" in after
    assert f"<code>{evaluation.seed}</code>" in after
    listed = client.get(reverse("assessments:human_evaluations", args=[code])).content.decode()
    assert "Concluded" in listed


def test_the_api_does_the_same(people, model, store):
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    made = api.post("/api/v1/human-evaluations/", {
        "model": model.pk, "name": "Chat", "baseline_file": store(
            "gpu.jsonl", lines("GPU"), model).pk,
        "candidate_file": store("npu.jsonl", lines("NPU"), model).pk}, format="json")
    assert (made.status_code, made.json()["item_count"], made.json()["seed"]) == (201, 8, None)
    evaluation = HumanEvaluation.objects.get()
    address = f"/api/v1/human-evaluations/{evaluation.pk}/"
    assert api.get(f"{address}sheet/?language=en").content[:2] == b"PK"
    for rater in ("One", "Two"):
        rated = api.post(f"{address}rate/", {"file": filled(evaluation, rater, prefers("GPU"))},
                         format="multipart")
        assert rated.status_code == 201
    assert rated.json()["results"] is None
    gone = rated.json()["ratings"][0]["id"]
    assert api.delete(f"/api/v1/human-ratings/{gone}/").status_code == 204
    concluded = api.post(f"{address}conclude/").json()
    assert concluded["seed"] == evaluation.seed
    assert concluded["results"]["whole"] == {
        "name": "", "better": 0, "same": 0, "worse": 8, "not_worse": 0.0}
    assert concluded["results"]["agreement"] is None
