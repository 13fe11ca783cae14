"""E-mails of notices."""

import re
from email.utils import parseaddr

import pytest
from django.core import mail
from django.utils import timezone

from delivery.documents.models import CompanyProfile
from delivery.notices import services, tasks
from delivery.notices.models import Dispatch, Event
from delivery.notices.transport import send_dispatches
from delivery.planning.services.control import add_todo
from engagements.models import Membership, Role
from engagements.services import cancel_engagement
from tests.delivery.notices.conftest import CONFIDENTIAL


@pytest.fixture
def mailed(people):
    """The manager has an address and wants stages submitted and sent back at once."""
    manager = people[Role.MANAGER]
    manager.email = "manager@example.com"
    manager.save()
    services.set_preferences(actor=manager, choices={
        "stage_submitted": {"in_inbox": True, "email": "now"}})
    return manager


def test_e_mail_with_a_deep_link_and_nothing_confidential(mailed, engagement, submit, settings):
    settings.PUBLIC_URL = "https://desk.example.com/"
    add_todo(actor=mailed, engagement=engagement, text="secret", owner=mailed,
             due_on=timezone.localdate())
    submit()
    for _ in range(2):
        tasks.send_mail_to(mailed.pk)
    message = mail.outbox[0]
    assert (len(mail.outbox), message.to) == (1, ["manager@example.com"])
    assert "https://desk.example.com/engagements/EP2501/models/LLM/survey/" in message.body
    text = message.subject + message.body + _html(message)
    assert [word for word in CONFIDENTIAL if word in text] == []
    *_events, waiting, chosen = message.body.split("\n\n")
    assert "EP2501 (" in waiting  # what waits for the reader follows, each with its link
    assert waiting.count("\n- ") == waiting.count("\n  https://desk.example.com/") > 0
    assert chosen.strip().endswith("https://desk.example.com/notices/preferences/")
    assert message.message()["Auto-Submitted"] == "auto-generated"
    assert parseaddr(message.from_email) == (CompanyProfile.current().name or "迁移交付台",
                                             "delivery-desk@localhost")
    assert "secret" not in text


def test_plain_text_and_html_that_fetches_nothing(mailed, submit, settings):
    settings.PUBLIC_URL = "https://desk.example.com/"
    submit()
    Event.objects.update(subject="<b>LLM</b> & co")
    send_dispatches.send_mail_to(mailed.pk)
    message = mail.outbox[0]
    assert "阶段已提交" in message.body
    assert len(message.subject) <= 200
    html = _html(message)
    address = "https://desk.example.com/engagements/EP2501/models/LLM/survey/"
    assert html.count(f'href="{address}"') == 1
    assert html.count("<section lang=") == html.count('<section lang="zh-hans"') == 1
    assert "<b>LLM</b>" not in html
    assert not re.search(r"<(img|script|link)\b", html)  # nothing is fetched when it is opened
    kinds = [part.get_content_type() for part in message.message().walk()]
    assert kinds == ["multipart/alternative", "text/plain", "text/html"]


def _html(message) -> str:
    ((html, kind),) = message.alternatives
    assert kind == "text/html"
    return html


def test_several_due_e_mails_leave_as_one(mailed, submit):
    submit(3)
    send_dispatches.send_mail_to(mailed.pk)
    assert len(mail.outbox) == 1
    assert mail.outbox[0].body.count("/engagements/EP2501/") == 3


def test_who_left_the_team_gets_no_e_mail(people, submit):
    consultant = people[Role.CONSULTANT]
    consultant.email = "c@example.com"
    consultant.save()
    submit()
    assert Dispatch.objects.filter(recipient=consultant).count() == 1
    Membership.objects.filter(user=consultant).delete()
    send_dispatches.send_mail_to(consultant.pk)
    assert mail.outbox == []
    assert Dispatch.objects.get(recipient=consultant).state == "withdrawn"


def test_mail_server_away_is_tried_again(mailed, submit, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    submit()
    send_dispatches.send_mail_to(mailed.pk)
    row = Dispatch.objects.get(recipient=mailed)
    assert (row.state, row.attempts, row.error) == ("pending", 1, "mail ConnectionRefusedError")


def test_a_customer_is_told_firm_project_and_people_by_name(people, engagement):
    """In the customer's own mailbox; those of the firm's people hold codes alone."""
    for role in (Role.REVIEWER, Role.CONSULTANT):
        services.set_preferences(actor=people[role], choices={
            "engagement_cancelled": {"in_inbox": True, "email": "now"}})
        people[role].email = f"{role}@example.com"
        people[role].save()
    CompanyProfile.objects.update_or_create(defaults={"name": "某服务公司"})
    cancel_engagement(actor=people[Role.MANAGER], engagement=engagement, reason="x",
                      settlement="y")
    for role in (Role.REVIEWER, Role.CONSULTANT):
        send_dispatches.send_mail_to(people[role].pk)
    told, own = (message.body for message in mail.outbox)
    reviewer, manager = people[Role.REVIEWER].full_name, people[Role.MANAGER].full_name
    assert told.startswith(f"{reviewer}，您好：")
    assert f"EP2501 {engagement.name}" in told
    assert f"经办人：{manager}" in told
    assert "某服务公司" in told
    assert manager not in own
    assert "项目：EP2501\n" in own
