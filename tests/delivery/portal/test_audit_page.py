"""The page of the audit log: labelled actions, a filter, and the check of the chain when asked."""

import pytest
from django.utils.translation import override

from delivery.portal.audit.action_labels import ACTION_LABELS, action_label
from delivery.portal.audit.entry_details import _table_label
from delivery.portal.audit.target_names import target_meaning
from delivery.quotes.quote_labels import STEPS
from engagements import services
from engagements.audit import audit_log
from engagements.audit_rows.tracking import tracked_tables
from engagements.models import AuditEntry, Role


def test_every_action_on_a_quote_has_words_in_its_history():
    actions = {action for action in ACTION_LABELS if action.startswith("quote.")}
    assert sorted({*actions, "file.download"} - set(STEPS)) == []


def test_an_action_without_words_stands_as_it_is(client, people, engagement):
    audit_log.record(actor=people[Role.MANAGER], action="user.login", target=engagement)
    AuditEntry.objects.update(action="fax.send")
    client.force_login(people[Role.MANAGER])
    assert ">fax.send</td>" in client.get("/audit/").content.decode()
    assert action_label("quote.issue") != "quote.issue"


@pytest.fixture
def log(people, engagement):
    services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="A", name="甲")
    services.add_model(actor=people[Role.ADMINISTRATOR], engagement=engagement, code="B", name="乙")
    audit_log.record(actor=people[Role.ADMINISTRATOR], action="user.logout",
                     target=people[Role.ADMINISTRATOR])
    return people


@pytest.mark.parametrize(("asked", "count"), [
    ({}, 4), ({"action": "model.add"}, 2), ({"engagement": "EP2501"}, 2), ({"text": "乙"}, 1),
    ({"action": "model.add", "text": "Administrator"}, 0), ({"engagement": "nowhere"}, 4)])
def test_the_filter(client, log, asked, count):
    """The fourth entry is the sign-in."""
    client.force_login(log[Role.MANAGER])
    assert client.get("/audit/", asked).context["page"].paginator.count == count


def test_every_table_of_the_log_has_a_chinese_name():
    with override("zh-hans"):
        names = {table._meta.label: _table_label(table._meta.label) for table in tracked_tables()}
    assert {table for table, name in names.items() if name.isascii()} == set()


def test_the_filter_by_person(client, log):
    client.force_login(log[Role.MANAGER])
    page = client.get("/audit/", {"actor": log[Role.MANAGER].pk}).context["page"]
    assert [entry.action for entry in page] == ["user.login", "model.add"]


def test_the_chain_is_walked_when_asked(client, log):
    client.force_login(log[Role.MANAGER])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    assert "unbroken" in client.get("/audit/", {"check": "1"}).content.decode()
    AuditEntry.objects.filter(pk=2).update(target_label="forged")
    assert "unbroken" not in client.get("/audit/").content.decode()
    assert "breaks at entry 2" in client.get("/audit/", {"check": "1"}).content.decode()


def test_missing_newest_entries_are_told(client, log):
    client.force_login(log[Role.MANAGER])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    AuditEntry.objects.first().delete()
    assert "newest entries are missing" in client.get("/audit/", {"check": "1"}).content.decode()


@pytest.mark.parametrize(("kind", "label", "english", "chinese"), [
    ("workers.job", "#33 adapt.megatron_train", "Megatron / MindSpeed training",
     "Megatron / MindSpeed 训练"),
    ("assessments.criterion", "LLM · loss_mean_relative_error v1", "Loss-curve mean relative error",
     "损失曲线平均相对误差"),
    ("assessments.baseline", "LLM · loss_curve", "Training loss, step by step",
     "训练损失（逐步）"),
    ("workers.job", "#34 gone.kind", "", ""),
    ("engagements.customer", "adapt.gpu2npu", "", ""),
])
def test_codes_in_the_name_of_an_object_stand_beside_their_labels(kind, label, english, chinese):
    entry = AuditEntry(target_type=kind, target_label=label)
    with override("en"):
        assert target_meaning(entry) == english
    with override("zh-hans"):
        assert target_meaning(entry) == chinese


def test_the_page_shows_the_label_of_a_jobs_kind(client, people, engagement):
    audit_log.record(actor=people[Role.MANAGER], action="job.queue", target=engagement)
    AuditEntry.objects.update(target_type="workers.job", target_label="#7 adapt.megatron_train")
    client.force_login(people[Role.MANAGER])
    html = client.get("/audit/", headers={"accept-language": "en"}).content.decode()
    assert ('#7 adapt.megatron_train<div class="text-secondary">Megatron / MindSpeed training'
            '</div>') in html
