"""Templates of jobs: saved and chosen on the form and by API, managed by managers and operators."""

import pytest
from django.urls import reverse
from django.utils.translation import override

from engagements import services as engagement_services
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role
from workers.models import Job, JobTemplate, Node
from workers.services import job_templates, runtimes

KIND = "survey.pt_analyse"
FREE = "run.command"


@pytest.fixture
def model(people, engagement):
    return engagement_services.add_model(actor=people[Role.MANAGER], engagement=engagement,
                                         code="A", name="A")


@pytest.fixture
def node(db):
    return Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x", state="ready",
                               command_roles=["consultant"], cards_total=8)


@pytest.fixture
def runtime(people):
    return runtimes.save_runtime(actor=people[Role.OPERATOR], name="cann", place="host",
                                 options={"nice": 5})


@pytest.fixture
def template(people, runtime):
    return job_templates.save_template(
        actor=people[Role.CONSULTANT], name="Usual analysis", kind=KIND, runtime=runtime,
        parameters={"source": "~/src/customer", "torch_version": "2.1.0"})


def _form(model, **query) -> str:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return f"{reverse('workers:job_new')}?model={model.pk}&stage=survey&kind={KIND}{more}"


def test_a_template_is_saved_on_the_form_of_a_job(client, people, model, node, runtime):
    client.force_login(people[Role.CONSULTANT])
    given = {"node": node.pk, "torch_version": "2.1.0", "mode": "torch_apis",
             "runtime": runtime.pk, "source": "~/src/x", "save_template": "yes"}
    answer = client.post(_form(model), {**given, "template_name": "Usual"})
    saved = JobTemplate.objects.get()
    assert (saved.kind, saved.runtime, "source" in saved.parameters) == (KIND, runtime, False)
    assert saved.parameters["torch_version"] == "2.1.0"
    assert not Job.objects.exists()
    form = answer.context["form"]
    assert (form["source"].value(), form.errors) == ("~/src/x", {})  # what was typed is there
    client.post(_form(model), {**given, "source": "", "template_name": "Without a source"})
    client.post(_form(model), {**given, "torch_version": "9", "template_name": "Wrong"})
    client.post(_form(model), {**given, "template_name": "Usual"})
    client.post(_form(model), {**given, "template_name": " "})
    assert set(JobTemplate.objects.values_list("name", flat=True)) == {
        "Usual", "Without a source"}


def test_the_form_is_filled_in_from_the_template(client, people, model, node, template, runtime):
    client.force_login(people[Role.CONSULTANT])
    shown = client.get(_form(model)).content.decode()
    assert f"template={template.pk}" in shown
    form = client.get(_form(model, template=template.pk)).context["form"]
    assert (form["torch_version"].value(), form["source"].value() or "") == ("2.1.0", "")
    assert form["runtime"].value() == runtime.pk
    runtimes.retire_runtime(actor=people[Role.OPERATOR], runtime=runtime)
    form = client.get(_form(model, template=template.pk)).context["form"]
    assert form["runtime"].value() is None
    other = f"{reverse('workers:job_new')}?model={model.pk}&kind=env.npu_info"
    assert client.get(f"{other}&template={template.pk}").status_code == 404


@pytest.mark.parametrize("words", [
    ["python", "train.py", "--password", "hunter2hunter2"],
    ["curl", "https://me:secret@host/x"], ["cat", "desk:file/12"], ["sh", "-c", "x=desk:job/3"]])
def test_neither_secrets_nor_files_of_an_engagement(people, words):
    with override("en"), pytest.raises(InvalidInput, match=r"template holds none|password or key"):
        job_templates.save_template(actor=people[Role.CONSULTANT], name="x", kind=FREE,
                                    parameters={"words": words})
    assert not JobTemplate.objects.exists()


def test_managers_and_operators_rename_and_delete(client, people, template):
    rename = reverse("workers:job_template_rename", args=[template.pk])
    delete = reverse("workers:job_template_delete", args=[template.pk])
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("workers:job_templates")).content.decode()
    assert ("Usual analysis" in page, rename in page, "2.1.0" in page) == (True, False, True)
    client.post(rename, {"name": "x"})
    client.post(delete)
    with pytest.raises(NotAllowed):
        job_templates.delete_template(actor=people[Role.SALES], template=template)
    with pytest.raises(NotAllowed):
        job_templates.save_template(actor=people[Role.SALES], name="x", kind=KIND)
    assert JobTemplate.objects.get().name == "Usual analysis"
    client.force_login(people[Role.OPERATOR])
    assert rename in client.get(reverse("workers:job_templates")).content.decode()
    client.post(rename, {"name": " Analysis of sources "})
    assert JobTemplate.objects.get().name == "Analysis of sources"
    client.force_login(people[Role.MANAGER])
    client.post(delete)
    assert not JobTemplate.objects.exists()
    assert list(AuditEntry.objects.filter(action__startswith="job_template.").order_by(
        "pk").values_list("action", flat=True)) == [
            f"job_template.{verb}" for verb in ("save", "rename", "delete")]
    assert (next(audit_log.findings(), None), list(audit_log.row_differences())) == (None, [])
    client.force_login(people[Role.REVIEWER])
    assert client.get(reverse("workers:job_templates")).status_code == 403


def test_the_api(client, people, model, node, runtime):
    client.force_login(people[Role.CONSULTANT])
    made = client.post("/api/v1/job-templates/", {
        "name": "Usual", "kind": KIND, "runtime": runtime.pk,
        "parameters": {"torch_version": "2.1.0", "source": "~/src/other"}},
        content_type="application/json")
    assert (made.status_code, "source" in made.json()["parameters"]) == (201, False)
    url = f"/api/v1/job-templates/{made.json()['id']}/"
    JobTemplate.objects.update(parameters={"torch_version": "2.1.0", "dropped_since": "x"})
    order = {"kind": KIND, "model": model.pk, "node": node.pk, "stage": "survey",
             "template": made.json()["id"], "parameters": {"source": "~/src/a"}}
    answer = client.post("/api/v1/jobs/", order, content_type="application/json")
    assert answer.status_code == 201, answer.json()
    job = Job.objects.get()
    assert (job.parameters["torch_version"], job.parameters["source"]) == ("2.1.0", "~/src/a")
    assert job.runtime["name"] == "cann"
    wrong = client.post("/api/v1/jobs/", {**order, "kind": "env.npu_info"},
                        content_type="application/json")
    assert (wrong.status_code, Job.objects.count()) == (400, 1)
    sent = {"path": url, "data": {"name": "Renamed"}, "content_type": "application/json"}
    assert client.patch(**sent).status_code == 403
    client.force_login(people[Role.MANAGER])
    assert client.patch(**sent).json()["name"] == "Renamed"
    assert client.delete(url).status_code == 204
    client.force_login(people[Role.REVIEWER])
    assert client.get("/api/v1/job-templates/").json()["results"] == []
