"""Operator comparisons: the index, the first deviating operator, the pages, the history."""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from django.apps import apps
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import override
from rest_framework.test import APIClient

from assessments import services, tasks
from assessments.accuracy import operators
from assessments.models import Comparison, OperatorRow
from engagements.models import Role
from tests.assessments.conftest import megatron_log
from tests.toolreaders.readers.test_msprobe_compare import line, table
from workers.models import Artifact, Job, StoredReading

SAMPLES = Path(__file__).parents[1] / "samples" / "accuracy" / "compare"
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _in_english():
    with override("en"):
        yield



@pytest.fixture
def compared(store, model):
    """Stores comparisons of the model and indexes them."""
    def put(name: str, data: bytes = b""):
        artifact = store(name, data or (SAMPLES / name).read_bytes(), model)
        return services.index_comparison(artifact=artifact)
    return put


def test_the_first_deviating_operator_and_its_reason(compared):
    comparison = compared("26-conv3x105-tensor.xlsx")
    marked = operators.marked_rows(comparison)
    assert (comparison.rows, comparison.mode) == (355, "tensor")
    assert (marked["first"].op, marked["first"].line) == ("Functional.conv2d.3.forward", 93)
    assert marked["suspect"] == marked["first"]
    assert marked["first"].reason == "relative_error"
    assert operators.explained(marked["first"]) == (
        "Off by 5.000 % of the reference's magnitude, limit 1 %.")


@pytest.mark.parametrize(("npu", "bench", "reason", "sentence"), [
    (1.02, 1.0, "relative_error", "Off by 2.000 % of the reference's magnitude, limit 1 %."),
    ("nan", 1.0, "nonfinite",
     "The NPU's tensor holds NaN or Inf where the reference is finite."),
    (1e-3, 1e-9, "floor", "The reference value is below 1e-06; the NPU value is not."),
    (1.01, 1.0, "relative_error",
     "Off by 1.000000000000001 % of the reference's magnitude, limit 1 %."),
    (1.009, 1.0, "", ""),
])
def test_reasons_by_the_limits(compared, npu, bench, reason, sentence):
    row = compared("c.csv", table(line("Tensor.mul.0.forward.output.0", npu, bench)).encode(
        )).operators.get()
    assert (row.reason, operators.explained(row)) == (reason, sentence)


def test_execution_order_not_the_sheet_s(compared):
    comparison = compared("8-conv3x3-L0-statistics.xlsx")
    marked = operators.marked_rows(comparison)
    assert marked["first"].op == "Module.layer2.0.down.0.Conv2d.forward.0"
    gradient = comparison.operators.get(op="Module.bn1.BatchNorm2d",
                                        name__contains="parameters_grad.weight")
    assert gradient.line < marked["first"].line
    assert gradient.position > marked["first"].position


def test_missing_counterparts_are_findings(compared):
    comparison = compared("26-extra-statistics.xlsx")
    rows = operators.filtered_rows(comparison, {"show": "unmatched"})
    assert comparison.unmatched == rows.count() > 0
    assert {row.missing_on for row in rows} <= {"npu", "bench"}


def test_indexing_twice_changes_nothing(compared, model):
    first = compared("8-md5.xlsx")
    assert services.index_comparison(artifact=first.artifact) == first
    assert OperatorRow.objects.count() == first.rows


def test_what_a_lost_message_left_out_is_found(store, model):
    artifact = store("c.xlsx", (SAMPLES / "8-md5.xlsx").read_bytes(), model)
    assert not Comparison.objects.exists()
    tasks.index_missing()
    tasks.index_missing()
    assert Comparison.objects.get().artifact == artifact


def test_a_read_comparison_asks_a_worker(store, model, django_capture_on_commit_callbacks,
                                          settings):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    from delivery.celery import app

    app.conf.task_always_eager = True
    try:
        with django_capture_on_commit_callbacks(execute=True):
            store("c.xlsx", (SAMPLES / "8-md5.xlsx").read_bytes(), model)
    finally:
        app.conf.task_always_eager = False
    assert Comparison.objects.get().rows > 0


def test_a_changed_file_says_so(store, model):
    artifact = store("c.xlsx", (SAMPLES / "8-md5.xlsx").read_bytes(), model)
    with artifact.file.storage.open(artifact.file.name, "ab") as stream:
        stream.write(b"x")
    comparison = services.index_comparison(artifact=artifact)
    assert comparison.problem.startswith("file_changed")
    assert comparison.operators.count() == 0


def test_a_problem_is_tried_anew_and_a_newer_reader_reads_anew(compared):
    comparison = compared("8-md5.xlsx")
    Comparison.objects.update(problem="file_changed: x")
    again = services.index_comparison(artifact=comparison.artifact)
    assert (again.problem, again.rows) == ("", comparison.rows)
    Comparison.objects.update(reader_version="0")
    newest = services.index_comparison(artifact=comparison.artifact)
    assert newest.reader_version == comparison.reader_version
    assert OperatorRow.objects.count() == comparison.rows


def test_other_files_have_no_index(store, model):
    assert services.index_comparison(artifact=store("x.txt", b"hello", model)) is None


def orders(comparison, **params):
    return [row.position for row in operators.filtered_rows(comparison, params)]


def test_filter_sort_and_nulls_last(compared):
    comparison = compared("c.csv", table(
        line("Tensor.a.0.forward.output.0", 1.0, 1.0),
        line("Tensor.b.0.forward.input.0", 1.5, 1.0),
        line("Tensor.b.0.forward.output.0", 1.2, 1.0),
        line("Tensor.c.0.forward.output.0", "nan", 1.0)).encode())
    assert orders(comparison, sort="-relative_error") == [2, 3, 1, 4]
    assert orders(comparison, sort="relative_error") == [1, 3, 2, 4]
    assert orders(comparison, sort="-position") == [4, 3, 2, 1]
    assert orders(comparison, show="deviating") == [2, 3, 4]
    assert orders(comparison, show="nonfinite") == [4]
    assert orders(comparison, q="tensor.B", role="output") == [3]
    assert orders(comparison, reason="relative_error", sort="nonsense'") == [2, 3]


def page(comparison, query=""):
    return reverse("assessments:comparison", args=[comparison.artifact_id]) + query


def test_the_page_and_its_part(client, people, compared):
    comparison = compared("26-conv3x105-tensor.xlsx")
    client.force_login(people[Role.REVIEWER])
    whole = client.get(page(comparison))
    part = client.get(page(comparison, "?show=deviating&sort=-relative_error"), headers=HTMX)
    assert "Functional.conv2d.3.forward" in whole.content.decode()
    assert part.templates[0].name == "assessments/comparison_rows.html"
    assert part.context["page"].paginator.count == comparison.deviating
    again = client.get(page(comparison, "?show=deviating&sort=-relative_error"))
    assert part.content.decode().strip() in again.content.decode()


@pytest.mark.parametrize("rows", [1, 120])
def test_queries_of_the_page_are_constant(client, people, compared, rows,
                                          django_assert_num_queries):
    comparison = compared("c.csv", table(*(
        line(f"Tensor.mul.{n}.forward.output.0", 2.0 + n, 1.0) for n in range(rows))).encode())
    client.force_login(people[Role.REVIEWER])
    with django_assert_num_queries(9):
        client.get(page(comparison))


@pytest.mark.slow
def test_not_indexed_yet(client, people, store, model):
    artifact = store("c.xlsx", (SAMPLES / "8-md5.xlsx").read_bytes(), model)
    url = reverse("assessments:comparison", args=[artifact.pk])
    client.force_login(people[Role.CONSULTANT])
    index = reverse("assessments:comparison_index", args=[artifact.pk])
    assert index in client.get(url).content.decode()
    client.post(index)
    assert index not in client.get(url).content.decode()
    client.force_login(people[Role.REVIEWER])
    assert client.post(index).status_code == 403


def test_an_operator_between_runs(client, people, compared):
    name = "Tensor.mul.0.forward.output.0"
    runs = [compared(f"{n}.csv", table(*rows).encode()) for n, rows in enumerate([
        [line(name, 1.0, 1.0)], [line(name, 1.3, 1.0)],
        [line("Tensor.add.0.forward.output.0", 1.0, 1.0)]])]
    history = operators.operator_history(runs[0].artifact, "Tensor.mul.0.forward")
    assert [(run.comparison, run.deviating, len(run.rows)) for run in history] == [
        (runs[2], 0, 0), (runs[1], 1, 1), (runs[0], 0, 1)]
    client.force_login(people[Role.REVIEWER])
    url = reverse("assessments:operator", args=[runs[0].artifact_id])
    text = client.get(url, {"op": "Tensor.mul.0.forward"}).content.decode()
    assert "30 %" in text
    assert client.get(url, {"op": "nothing"}).status_code == 404


def test_links_from_job_and_file(client, people, compared, engagement):
    comparison = compared("8-md5.xlsx")
    job = Job.objects.create(kind="acc.compare", engagement=engagement)
    Artifact.objects.filter(pk=comparison.artifact_id).update(job=job)
    client.force_login(people[Role.CONSULTANT])
    for url in (reverse("workers:job", args=[job.pk]),
                reverse("workers:artifact", args=[comparison.artifact_id]),
                reverse("assessments:accuracy", args=[engagement.code])):
        assert page(comparison) in client.get(url).content.decode()


@pytest.mark.parametrize("files", [1, 3])
def test_queries_of_the_tab_are_constant(client, people, compared, engagement, files,
                                         django_assert_num_queries):
    for n in range(files):
        compared(f"{n}.csv", table(line("Tensor.a.0.forward.output.0", n, 1)).encode())
    client.force_login(people[Role.REVIEWER])
    with django_assert_num_queries(7):
        client.get(reverse("assessments:accuracy", args=[engagement.code]))


def test_strangers_find_nothing(client, stranger, compared):
    comparison = compared("8-md5.xlsx")
    client.force_login(stranger)
    assert client.get(page(comparison)).status_code == 404
    api = APIClient()
    api.force_authenticate(stranger)
    assert api.get(f"/api/v1/comparisons/{comparison.pk}/").status_code == 404


@pytest.mark.parametrize("files", [1, 3])
def test_queries_of_the_api_list_are_constant(people, compared, files,
                                              django_assert_num_queries):
    for n in range(files):
        compared(f"{n}.csv", table(line("Tensor.a.0.forward.output.0", n + 2, 1)).encode())
    api = APIClient()
    api.force_authenticate(people[Role.REVIEWER])
    with django_assert_num_queries(3):
        shown = api.get("/api/v1/comparisons/").json()["results"]
    assert [row["first_deviating"]["op"] for row in shown] == ["Tensor.a.0.forward"] * files


def test_a_comparison_and_its_reading_know_their_engagement(compared, engagement):
    comparison = compared("8-md5.xlsx")
    assert (comparison.engagement, comparison.artifact.readings.get().engagement) == (
        engagement, engagement)


def test_the_migrations_fill_the_engagement_of_rows_that_are_there(compared, engagement):
    artifact = compared("8-md5.xlsx").artifact

    class Historical:  # models of migrations write without the audit log
        def get_model(self, app: str, name: str):
            return SimpleNamespace(objects=QuerySet(apps.get_model(app, name)))

    for name, model in (("workers.migrations.0027_fill_engagement_of_readings", StoredReading),
                        ("assessments.migrations.0013_fill_engagement_of_comparisons",
                         Comparison)):
        QuerySet(model).update(engagement=None)
        import_module(name).fill(Historical(), None)
    artifact.refresh_from_db()
    assert (artifact.comparison.engagement, artifact.readings.get().engagement) == (
        engagement, engagement)


def test_the_api_pages_filters_and_explains(people, compared):
    comparison = compared("26-conv3x105-tensor.xlsx")
    api = APIClient()
    api.force_authenticate(people[Role.REVIEWER])
    shown = api.get(f"/api/v1/comparisons/{comparison.pk}/").json()
    assert shown["first_deviating"]["op"] == "Functional.conv2d.3.forward"
    rows = api.get(f"/api/v1/comparisons/{comparison.pk}/operators/",
                   {"show": "deviating", "sort": "-relative_error"}).json()
    assert rows["count"] == comparison.deviating
    assert rows["results"][0]["relative_error"] >= rows["results"][1]["relative_error"]
    runs = api.get(f"/api/v1/comparisons/{comparison.pk}/history/",
                   {"op": "Functional.conv2d.3.forward"}).json()
    assert [(run["comparison"], run["deviating"]) for run in runs] == [(comparison.pk, 1)]


OFFLINE = SAMPLES.parent / "msaccucmp"


def test_a_comparison_of_an_offline_model_is_asked_alike(compared, store, model, client, people):
    name = next(OFFLINE.glob("*bad*.csv"))
    artifact = store(name.name, name.read_bytes(), model)
    comparison = services.index_comparison(artifact=artifact)
    reading = artifact.readings.get(reader="msaccucmp_compare").values
    first = operators.marked_rows(comparison)["first"]
    assert comparison.rows == reading["rows"]
    assert (first.op, first.line) == (
        reading["first_deviating"], reading["first_deviating_row"]["row"])
    assert comparison.deviating == reading["deviating"]
    assert comparison.operators.filter(missing_on="npu").count() == reading["unmatched"]
    assert operators.explained(first)
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("assessments:comparison", args=[artifact.pk]))
    assert first.op in page.content.decode()


def criterion_page(client, people, criterion) -> str:
    client.force_login(people[Role.CONSULTANT])
    return client.get(reverse("assessments:criterion", args=[criterion.pk]),
                      headers={"accept-language": "en"}).content.decode()


@pytest.mark.slow
def test_the_page_of_a_criterion_shows_the_first_deviating_operator(
        client, people, compared, criterion):
    """Beside the verdict, and that the dumped run need not be the judged one."""
    assert "Operators of the model" not in criterion_page(client, people, criterion)
    compared("26-conv3x105-tensor.xlsx")
    output = criterion_page(client, people, criterion)
    assert "Functional.conv2d.3.forward" in output
    assert "which may differ from the judged run" in output
    compared("c.csv", table(line("Tensor.mul.0.forward.output.0", 1.0, 1.0)).encode())
    output = criterion_page(client, people, criterion)
    assert "1 row compared, none exceeds the limits." in output
    assert "Functional.conv2d.3.forward" not in output


def test_a_failed_criterion_without_a_comparison_says_so(
        client, people, criterion, model, store):
    verdict, = services.measure_file(
        actor=people[Role.CONSULTANT], model=model,
        artifact=store("npu.log", megatron_log(np.linspace(4, 2, 200) * 1.1), model))
    assert verdict.outcome == "failed"
    assert "where its deviation starts is not known" in criterion_page(client, people, criterion)
