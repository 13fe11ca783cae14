"""A model's facts: on their page and by API, with an audit entry, and two writers at once."""

import pytest
from django.urls import reverse

from engagements import services
from engagements.models import AuditEntry, Role
from engagements.optimistic_locking import EditConflict

FACTS = {"name": "大模型", "name_en": "LLM", "task": "文本生成", "task_en": "Text generation",
         "framework": "PyTorch 2.1.0", "parameters_billion": "7.000", "cards": "16",
         "repository": "git@git.example:llm.git"}


def edit_page(model):
    return reverse("engagements:model_edit", args=[model.engagement.code, model.code])


def test_the_page_keeps_facts_and_says_who_changed_what(client, people, model):
    client.force_login(people[Role.MANAGER])
    seen = client.get(edit_page(model)).context["form"]["seen"].value()
    assert client.post(edit_page(model), {**FACTS, "seen": seen}).status_code == 302
    model.refresh_from_db()
    assert (model.task_en, model.cards, model.repository, model.lock_version) == (
        "Text generation", 16, "git@git.example:llm.git", seen + 1)
    entry = AuditEntry.objects.filter(action="model.update").last()
    assert entry.data["changed"]["cards"] == ["--", "16"]


def test_the_second_writer_sees_what_changed_and_loses_nothing(client, people, model):
    client.force_login(people[Role.MANAGER])
    seen = model.lock_version
    services.update_model(actor=people[Role.MANAGER], model=model, framework="MindSpore 2.3")
    answer = client.post(edit_page(model), {**FACTS, "seen": seen})
    form = answer.context["form"]
    assert "MindSpore 2.3" in str(form.non_field_errors())
    assert (form["cards"].value(), form["seen"].value()) == ("16", seen + 1)
    model.refresh_from_db()
    assert (model.framework, model.cards) == ("MindSpore 2.3", None)
    assert client.post(edit_page(model), {**FACTS, "seen": seen + 1}).status_code == 302


def test_nothing_changed_writes_nothing(people, model):
    services.update_model(actor=people[Role.MANAGER], model=model, name=model.name)
    assert not AuditEntry.objects.filter(action="model.update").exists()
    with pytest.raises(EditConflict):
        services.update_model(actor=people[Role.MANAGER], model=model, seen=9, name="x")


def test_page_and_api_refuse_a_code_that_no_address_holds(client, people, engagement):
    client.force_login(people[Role.MANAGER])
    given = {"engagement": engagement.pk, "code": "A/B", "name": "x", "scope": "full"}
    page = client.post(reverse("engagements:model_new", args=[engagement.code]), given)
    answer = client.post("/api/v1/models/", given)
    assert (page.status_code, answer.status_code) == (200, 400)
    assert page.context["form"].errors["code"][0] in answer.json().values()


def test_by_api(client, people, model, stranger):
    path = f"/api/v1/models/{model.pk}/"
    client.force_login(people[Role.MANAGER])
    answer = client.patch(path, {"task_en": "Text", "seen": model.lock_version},
                          content_type="application/json")
    assert (answer.status_code, answer.json()["task_en"]) == (200, "Text")
    answer = client.patch(path, {"task_en": "Other", "seen": 1}, content_type="application/json")
    assert answer.status_code == 409
    answer = client.post(path + "scope/", {"scope": "training", "reason": "no inference"})
    assert answer.json()["scope"] == "training"
    client.force_login(stranger)
    assert client.patch(path, {}, content_type="application/json").status_code == 404
    assert client.get(edit_page(model)).status_code == 404


def test_who_only_works_on_it_may_not(client, people, model):
    client.force_login(people[Role.CONSULTANT])
    assert client.get(edit_page(model)).status_code == 403
    assert client.patch(f"/api/v1/models/{model.pk}/", {"name": "x"},
                        content_type="application/json").status_code == 403
