"""One form, the same job for several models."""

import pytest
from django.urls import reverse

from engagements import services as engagement_services
from engagements.errors import InvalidInput
from workers import services
from workers.jobs import form_defaults
from workers.models import Job, JobState, Node, Priority

KIND = "survey.pt_analyse"


@pytest.fixture
def models(people, engagement):
    return [engagement_services.add_model(actor=people["manager"], engagement=engagement,
                                          code=code, name=code) for code in ("A", "B", "C")]


@pytest.fixture
def node(db):
    return Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x", state="ready",
                               command_roles=["consultant"], cards_total=8)


@pytest.fixture
def surveys(monkeypatch):
    """What is known of each model's sources."""
    monkeypatch.setitem(form_defaults._sources, "test", lambda _models: lambda kind, model: {
        "source": f"~/src/{model.code}"})


def test_each_model_gets_what_is_known_of_it(client, people, models, node, surveys):
    client.force_login(people["consultant"])
    url = reverse("workers:job_new") + f"?model={models[0].pk}&stage=survey&kind={KIND}"
    form = client.get(url).context["form"]
    assert [field.name for field in form.unfolded()] == ["node", "source", "torch_version", "mode",
                                                         "also"]
    assert {"runtime", "priority"} <= {field.name for field in form.folded()}
    given = {field.name: field.value() or "" for field in form if field.name != "also"}
    given["node"] = node.pk
    answer = client.post(url, {**given, "also": [models[2].pk]})
    assert answer.url == reverse("workers:jobs") + "?engagement=EP2501"
    assert list(Job.objects.order_by("pk").values_list("model__code", "parameters__source")) == [
        ("A", "~/src/A"), ("C", "~/src/C")]
    client.post(url, {**given, "source": "~/other", "also": [models[1].pk]})
    assert list(Job.objects.order_by("-pk").values_list("parameters__source", flat=True)[:2]) == [
        "~/other", "~/other"]


def test_urgent_is_offered_with_a_reason_to_those_with_the_right(
        client, people, models, node, surveys):
    url = reverse("workers:job_new") + f"?model={models[0].pk}&stage=survey&kind={KIND}"
    client.force_login(people["consultant"])
    form = client.get(url).context["form"]
    assert ("priority_reason" in form.fields, len(form.fields["priority"].choices)) == (False, 2)
    client.force_login(people["manager"])
    form = client.get(url).context["form"]
    given = {field.name: field.value() or "" for field in form if field.name != "also"}
    given |= {"node": node.pk, "priority": Priority.URGENT}
    refused = client.post(url, given).context["form"]
    assert list(refused.errors) == ["priority_reason"]
    client.post(url, {**given, "priority_reason": "客户明天验收"})
    assert list(Job.objects.values_list("priority", "priority_reason")) == [
        (Priority.URGENT, "客户明天验收")]


def test_none_is_queued_where_one_is_refused(people, models, node):
    engagement_services.drop_model(actor=people["manager"], model=models[1], reason="x")
    models[1].refresh_from_db()
    with pytest.raises(InvalidInput, match="B"):
        services.queue_for_models(actor=people["consultant"], kind=KIND, models=models[:2],
                                  parameters={"source": "~/src"}, node=node, stage="survey")
    assert not Job.objects.filter(state=JobState.QUEUED).exists()
