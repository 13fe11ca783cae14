"""Rules when a job is queued: blocking hits refuse, warnings stay with the job."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from engagements.errors import InvalidInput, WrongState
from workers import rule_checks, services
from workers.models import Card, Job, Node
from workers.rules.facts.of_job import facts_of_job

KIND = "adapt.megatron_train"


@pytest.fixture
def ready(db):
    return Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x", cards_total=8,
                               state=Node.State.READY)


def queue(people, engagement, node, **parameters):
    return services.queue_job(actor=people["consultant"], kind=KIND, engagement=engagement,
                              node=node, parameters=parameters)


def test_blocking_hit_refuses_and_names_the_parameter(people, engagement, ready):
    Card.objects.create(node=ready, index=0, npu_id=0, chip_name="910B3", health="OK",
                        read_at=timezone.now())
    with pytest.raises(InvalidInput) as caught:
        services.queue_job(actor=people["consultant"], kind="inf.atc", engagement=engagement,
                           node=ready, parameters={"model_file": "~/a.onnx",
                                                   "soc_version": "Ascend910B"})
    assert list(caught.value.details["parameters"]) == ["soc_version"]
    assert "R-INF-06" in caught.value.message
    assert Job.objects.count() == 0


def test_further_arguments_are_facts(people, engagement, ready):
    with pytest.raises(InvalidInput, match="R-PAR-05"):
        queue(people, engagement, ready, extra="--num-layers 31")


def test_warning_is_kept_with_the_job_and_shown(client, people, engagement, ready):
    job = queue(people, engagement, ready, learning_rate=0.01)
    hits = rule_checks.hits_of_job(job.results)
    assert [(h.rule, h.place, h.value) for h in hits] == [("R-CFG-14", "learning_rate", "0.01")]
    client.force_login(people["consultant"])
    assert "R-CFG-14" in client.get(reverse("workers:job", args=[job.pk])).content.decode()


def test_unpaired_versions_of_the_node_refuse(people, engagement, ready):
    Node.objects.filter(pk=ready.pk).update(
        software={"torch": "2.6.0", "torch_npu": "2.1.0.post12"})
    ready.refresh_from_db()
    with pytest.raises(InvalidInput, match="R-ENV-18"):
        queue(people, engagement, ready)


def test_sick_chip_matters_only_where_too_few_are_left(people, engagement, ready):
    for index in range(8):
        Card.objects.create(node=ready, index=index, npu_id=index, read_at=timezone.now(),
                            health="Alarm" if index == 7 else "OK")
    with pytest.raises(InvalidInput, match="R-ENV-01"):
        queue(people, engagement, ready)
    assert queue(people, engagement, ready, cards=4).pk


@pytest.fixture
def form(client, people, engagement, ready):
    """Posts the job form with the values of a job that may be queued, and those that differ."""
    client.force_login(people["administrator"])
    url = f"{reverse('workers:job_new')}?engagement={engagement.code}&kind={KIND}"
    fields = client.get(url).context["form"].fields.items()
    values = {**{name: field.initial for name, field in fields if field.initial is not None},
              "node": ready.pk, "script": "pretrain_gpt.py", "cards": 8, "tensor_parallel": 2,
              "pipeline_parallel": 2, "train_iters": 200, "micro_batch_size": 1, "priority": 0,
              "global_batch_size": 16, "seq_length": 1024, "seed": 1}
    return lambda **given: client.post(url, {**values, **given}, HTTP_ACCEPT_LANGUAGE="en")


def test_form_checks_without_queueing(form):
    page = form(learning_rate="0.01", only_check="yes")
    assert "R-CFG-14" in page.content.decode()
    assert page.context["form"].errors == {}
    assert page.context["summary"].startswith("Checked: 0 errors, 1 warning, ")
    assert Job.objects.count() == 0


@pytest.mark.parametrize("press", [{"only_check": "yes"}, {}], ids=["check", "queue"])
def test_check_and_queue_say_the_same_of_what_contradicts_itself(form, press):
    """TP = 3 on 8 cards: the kind refuses it, and so does a rule; the rules' warnings stay."""
    page = form(tensor_parallel=3, pipeline_parallel=1, learning_rate="0.01", **press)
    [(name, [sentence])] = page.context["form"].errors.items()
    assert name == "cards"
    assert "R-PAR-02" in sentence
    assert [(hit.rule, hit.severity) for hit in page.context["hits"]] == [
        ("R-PAR-02", "block"), ("R-CFG-14", "warn")]
    [alert] = re.findall(r'<div class="alert alert-danger" role="alert">(.*?)</div>',
                         page.content.decode())
    assert re.fullmatch(r"Checked: 1 error, 1 warning, \d+ rules lack data\.", alert)
    assert Job.objects.count() == 0


def test_a_check_names_all_that_forbids_the_job(form, ready):
    Node.objects.filter(pk=ready.pk).update(cards_total=2)
    page = form(tensor_parallel=4, pipeline_parallel=1, save="~/../etc", load="~/a:b",
                only_check="yes")
    assert {"save", "load"} <= page.context["form"].errors.keys()
    assert page.context["summary"].startswith("Checked: 2 errors. The rules ")
    page = form(tensor_parallel=4, pipeline_parallel=1, skip_iterations="900", only_check="yes")
    errors = page.context["form"].errors
    assert set(errors) == {"tensor_parallel", "__all__"}
    assert page.context["summary"].startswith("Checked: 2 errors, 0 warnings, ")


def test_an_incomplete_form_says_that_no_rule_was_asked(form):
    page = form(script="", only_check="yes")
    assert page.context["summary"] == (
        "Checked: 1 error. The rules are applied once the values are complete.")


def test_what_is_no_rule_is_said_too(people, engagement, ready):
    ready.state = Node.State.MAINTENANCE
    [found] = services.check_for_models(
        actor=people["consultant"], kind=KIND, models=[None], engagement=engagement, node=ready,
        parameters={})
    with pytest.raises(WrongState) as refused:
        queue(people, engagement, ready)
    assert [error for error in found.errors if not error[0]] == [("", refused.value.message)]


def test_unknown_facts_are_left_out():
    facts = facts_of_job({"tensor_parallel": 2, "extra": "--num-layers=24 --bf16"}, {"A": "1"})
    assert facts == {"tp": 2, "num_layers": 24, "A": "1"}
