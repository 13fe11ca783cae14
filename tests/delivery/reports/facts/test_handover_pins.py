"""A hand-over list names commits and image digests, of deliverables and of what ran."""

from delivery.documents.bilingual import in_language
from delivery.reports import services
from delivery.reports.facts.handover import pins
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.models import Role
from tests.delivery.conftest import STARTED
from workers.models import Job

DIGEST = "sha256:" + "ab" * 32


def rows(engagement) -> list[list[str]]:
    found = pins(Source(Document(engagement=engagement, kind="HD")))
    return in_language(found, "en")["rows"]


def test_commits_and_images_of_deliverables_and_runs_are_listed(delivered, people):
    assert rows(delivered) == []
    common = {"actor": people[Role.MANAGER], "engagement": delivered}
    code = services.add_deliverable(**common, title="代码", title_en="Code",
                                    model=delivered.models.get(code="LLM"))
    services.fulfil_deliverable(actor=people[Role.MANAGER], deliverable=code,
                                repository="git@code.example:llm.git", commit="0123abc")
    services.add_deliverable(**common, title="手册")  # owed: names nothing yet
    for stage, state in (("train_tune", "succeeded"), ("train_tune", "failed"),
                         ("survey", "succeeded")):
        Job.objects.create(
            kind="adapt.megatron_train", engagement=delivered, stage=stage, state=state,
            model=delivered.models.get(code="PSR"), started_at=STARTED, finished_at=STARTED,
            results={"container": {"image": "sha256:" + "0" * 64,
                                   "digests": f'["registry.example/train@{DIGEST}"]'}})
    run = Job.objects.get(stage="train_tune", state="succeeded", kind="adapt.megatron_train",
                          model__code="PSR")
    assert rows(delivered) == [
        ["D-01 Code", "LLM", "commit", "git@code.example:llm.git", "0123abc"],
        ["Container image of runs", "PSR", "image", f"#{run.pk}",
         f"registry.example/train@{DIGEST}"]]
