"""The performance charts of the judged models stand in the test report, frozen."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.translation import override

from assessments.charts.model_charts import chart_spec
from delivery.documents.bilingual import in_language
from delivery.reports import services
from delivery.reports.models import Document
from delivery.reports.rendering import _chapters
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from workers.services import upload_artifact

SAMPLES = Path(__file__).parents[2] / "samples" / "performance"
FILES = {"step_trace_time.csv": "steps", "op_statistic.csv": "operators",
         "arcface_1_8_32p.md": "scaling"}


@pytest.fixture
@cached_fixture
def profiled(delivered, people) -> Document:
    """The report of a delivered engagement whose model has files for three charts."""
    model = delivered.models.first()
    for name in FILES:
        upload_artifact(actor=people[Role.MANAGER], engagement=delivered, model=model,
                        upload=SimpleUploadedFile(name, (SAMPLES / name).read_bytes()))
    return services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)


def details(facts: dict, language: str) -> list[dict]:
    with override(language):
        sections = _chapters(facts, False)["sections"]
    return next(section for section in sections if section["id"] == "details")["parts"]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_each_chart_with_data_is_a_numbered_figure(profiled, language):
    model, facts = profiled.engagement.models.first(), in_language(profiled.snapshot, language)
    assert [entry["key"] for entry in facts["performance"]] == [
        f"{name}-{model.pk}" for name in ("steps", "operators", "scaling")]
    with override(language):
        assert facts["performance"][0]["spec"] == chart_spec(model, "steps")
    part = details(facts, language)[-1]
    numbers = [figure["number"] for figure in part["figures"]]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    assert all(figure["picture"].startswith("<svg") for figure in part["figures"])
    assert all(model.code in figure["caption"] for figure in part["figures"])


@pytest.mark.slow
def test_no_heading_without_data(report):
    facts = in_language(report.snapshot, "en")
    assert facts["performance"] == []
    assert [part["template"] for part in details(facts, "en")] == [
        "documents/parts/table.html", "documents/parts/details.html"]  # conditions; curves
