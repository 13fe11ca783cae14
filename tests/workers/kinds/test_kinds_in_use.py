"""What gates, rules and server-side kinds make of jobs and stored files."""

import pytest
from django.utils import timezone, translation

from engagements.errors import InvalidInput
from engagements.models import StageRecord
from engagements.services import add_model
from engagements.stages import Stage
from engagements.text.nested_sentences import nested, sentence_of
from tests.workers.kinds.outputs import good
from workers import kinds, rule_checks
from workers.gate_checks import required_jobs_succeeded
from workers.kinds.evidence import Rerun
from workers.models import Job, JobState

pytestmark = pytest.mark.django_db
ASD = {"script": "~/train.py"}


@pytest.fixture
def model(people, engagement):
    return add_model(actor=people["manager"], engagement=engagement, code="LLM", name="LLM")


@pytest.mark.parametrize(("kind", "stage", "parameters", "is_met"), [
    ("survey.pt_analyse", Stage.SURVEY, {"mode": "torch_apis"}, False),  # one of two
    ("survey.pt_analyse", Stage.SURVEY, {"mode": "third_party"}, False),
    ("survey.pt_analyse", Stage.SURVEY, {"mode": "affinity_apis"}, False),
    ("survey.pt_analyse", Stage.SURVEY, {"mode": "dynamic_shape"}, False),
    ("inf.atc", Stage.INFER_MIGRATE, {"mode": "0"}, True),
    ("inf.atc", Stage.INFER_MIGRATE, {"mode": "3"}, False)])
def test_a_gate_counts_jobs_of_the_mode_that_answers_it(
        people, engagement, model, kind, stage, parameters, is_met):
    Job.objects.create(kind=kind, stage=stage, parameters=parameters, state=JobState.SUCCEEDED,
                       engagement=engagement, model=model, created_by=people["consultant"],
                       finished_at=timezone.now())
    record = StageRecord.objects.get(model=model, stage=stage)
    results = {result.code: result.is_met for result in required_jobs_succeeded(record)}
    assert results[f"job:{kind}"] is is_met


@pytest.mark.parametrize(("cards", "nodes", "is_warned"), [
    (8, 1, True), (8, 7, True), (8, 8, False), (16, 4, False)])
def test_the_job_with_detection_is_checked_with_the_cards_of_all_nodes(cards, nodes, is_warned):
    kinds.load_all()
    kind = kinds.get("acc.asd_run")
    values = kind.clean({**ASD, "cards": cards, "nodes": nodes, "dtype": "bf16"})
    hits = [hit.rule for hit in rule_checks.outcome_for(kind, values, None).hits]
    assert ("R-CFG-12" in hits) is is_warned


def test_detection_with_fp16_is_warned_of_whatever_else_is_known():
    kind = kinds.get("acc.asd_run")
    values = kind.clean({**ASD, "cards": 16, "nodes": 8, "dtype": "fp16"})
    [hit] = [hit for hit in rule_checks.outcome_for(kind, values, None).hits
             if hit.rule == "R-CFG-12"]
    assert (hit.place, hit.value) == ("dtype", "fp16")


def test_another_chip_of_the_family_is_refused(node):
    assert {card.chip_name for card in node.cards.all()} == {"910B3"}  # as read when it was tried
    kind = kinds.get("inf.atc")
    for soc, is_refused in (("Ascend910B", True), ("Ascend910B3", False)):
        values = kind.clean({"model_file": "~/a.onnx", "soc_version": soc})
        refused = {hit.rule for hit in rule_checks.outcome_for(kind, values, node).hits}
        assert ("R-INF-06" in refused) is is_refused


# Kinds that run on the server --------------------------------------------------------

WRONG = {"empty": b"", "of no known layout": b"release 99\nnothing known\n",
         "of another kind": good("env.npu_info")["log.txt"],
         "without step times": good("adapt.smoke_train")["log.txt"]}
ON_LOGS = {"perf.throughput": ("log",), "perf.scaling": ("one", "many"),
           "acc.loss_compare": ("baseline", "candidate")}
MORE = {"perf.throughput": {"seq_length": 1024}, "perf.scaling": {"nodes": 2}}


@pytest.fixture
def stored(people, engagement, model):
    from django.core.files.uploadedfile import SimpleUploadedFile

    from workers.services import upload_artifact

    def put(content: bytes):
        return upload_artifact(actor=people["consultant"], engagement=engagement, model=model,
                               upload=SimpleUploadedFile("x.log", content))

    return put


@pytest.mark.parametrize("code", ON_LOGS)
@pytest.mark.parametrize("wrong", WRONG)
def test_kinds_on_the_server_make_no_figure_of_a_wrong_log(
        people, engagement, model, stored, code, wrong):
    if (code, wrong) == ("acc.loss_compare", "without step times"):
        return  # losses are all it needs
    kind = kinds.get(code)
    number = stored(WRONG[wrong]).pk
    values = kind.clean({**MORE.get(code, {}), **dict.fromkeys(ON_LOGS[code], number)})
    job = Job(kind=code, engagement=engagement, model=model, created_by=people["consultant"])
    try:
        judgement, _outputs = kind.run_here(job, values)
    except InvalidInput:
        return
    assert not judgement.is_success


def test_a_bundle_of_no_file_is_none(people, engagement, model):
    job = Job(kind="evi.bundle", engagement=engagement, model=model)
    judgement, outputs = kinds.get("evi.bundle").run_here(job, {"pack": True})
    assert (judgement.is_success, outputs) == (False, {})


def test_a_repetition_claims_what_the_first_run_claimed(people, engagement, model):
    first = Job.objects.create(
        kind="adapt.smoke_train", engagement=engagement, model=model, exit_status=0,
        parameters={"steps": 10}, created_by=people["consultant"])
    assert Rerun().device_claim({"job": first.pk}) is True
    assert Rerun().statuses_for({"job": first.pk}) == (0,)


def test_a_sentence_within_a_sentence_is_translated():
    shown = nested("%(points)d steps, all losses finite.", {"points": 3})
    with translation.override("zh-hans"):
        assert sentence_of("%(told)s!", {"told": shown}) == "3 步，损失均为有限值。!"
