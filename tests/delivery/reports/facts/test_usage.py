"""The user guide: the newest success of each step with command, versions and conditions."""

from django.utils import timezone
from django.utils.translation import override

from delivery.reports.facts.agreed_deliverables import DOCUMENTS
from delivery.reports.facts.source import Source
from delivery.reports.facts.usage import steps
from delivery.reports.models import Document
from delivery.reports.registry import get
from engagements import services as engagements
from engagements.models import Role
from workers.models import Job


def test_the_newest_success_of_each_step_is_told(people, engagement):
    model = engagements.add_model(actor=people[Role.MANAGER], engagement=engagement, code="M1",
                                  name="M1")

    def run(stage, state="succeeded", kind="adapt.smoke_train", **more):
        return Job.objects.create(
            kind=kind, engagement=engagement, model=model, stage=stage, state=state,
            finished_at=timezone.now(), **{"command": ["python3", "old.py"], **more})

    run("train_adapt")
    newest = run("train_adapt", command=["python3", "train.py", "--bf16"], is_practice=True,
                 results={"software": {"cann": "8.0.RC3", "torch_npu": "2.1.0.post13"}})
    run("train_adapt", "failed", command=["python3", "broken.py"])
    run("infer_migrate", kind="inf.atc", command=["atc", "--framework=5"])
    run("infer_tune", kind="inf.om_bench", command=["bench"], results=newest.results)
    run("survey", kind="survey.host", command=["lscpu"])
    with override("en"):
        found = steps(Source(Document(engagement=engagement, kind="UG")))["rows"]
    assert [(row[3], row[4]) for row in found] == [
        (f"#{newest.pk}", "python3 train.py --bf16"), (f"#{newest.pk + 2}", "atc --framework=5"),
        (f"#{newest.pk + 3}", "bench")]
    assert [part for part in ("8.0.RC3", "2.1.0.post13") if part not in found[0][5]["en"]] == []
    assert "practice node" in found[0][6]["en"]
    assert found[1][5] == {"zh-hans": "未记录", "en": "not recorded"}
    assert found[2][5] == {"zh-hans": f"同运行 #{newest.pk}", "en": f"as run #{newest.pk}"}


def test_an_issued_guide_stands_for_the_manual_of_the_contract():
    assert get(DOCUMENTS["manual"]).code == "UG"
