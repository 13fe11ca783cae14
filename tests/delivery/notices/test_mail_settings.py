"""Language and quiet hours of a person's e-mails; a digest that a real SMTP server receives."""

from datetime import UTC, date, datetime, time, timedelta
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from django.urls import reverse
from django.utils import timezone

from delivery.notices import services
from delivery.notices.models import Dispatch, MailSetting
from delivery.notices.rate_limits import after_quiet
from delivery.notices.transport.send_dispatches import send_mail_to
from delivery.planning.services import control
from engagements.errors import InvalidInput
from engagements.models import Role
from tests.ports import free_port

NIGHT, MORNING = time(22), time(7, 30)


class Received:
    """What the SMTP server took."""

    def __init__(self):
        self.mails = []

    async def handle_DATA(self, _server, _session, envelope):  # noqa: N802  (as aiosmtpd calls)
        self.mails.append((envelope.rcpt_tos, message_from_bytes(
            envelope.content, policy=policy.default)))
        return "250 OK"


@pytest.fixture
def received(settings):
    handler = Received()
    server = Controller(handler, hostname="127.0.0.1", port=free_port())
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    yield handler.mails
    server.stop()


@pytest.fixture
def promised(people, engagement, django_capture_on_commit_callbacks):
    """Two to-dos of the consultant, who gets the daily digest of them."""
    people[Role.CONSULTANT].email = "consultant@example.com"
    people[Role.CONSULTANT].save()
    with django_capture_on_commit_callbacks(execute=True):
        for text in ("first", "second"):
            control.add_todo(actor=people[Role.MANAGER], engagement=engagement, text=text,
                             owner=people[Role.CONSULTANT], due_on=date(2025, 7, 10))
    return people[Role.CONSULTANT]


def nine_o_clock_has_come() -> None:
    Dispatch.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def test_a_digest_arrives_as_one_mail_in_the_persons_language(received, promised):
    send_mail_to(promised.pk)
    assert received == []  # not before nine
    assert {timezone.localtime(row.due_at).time() for row in Dispatch.objects.all()} == {time(9)}
    nine_o_clock_has_come()
    services.set_mail_setting(actor=promised, language="en")
    send_mail_to(promised.pk)
    send_mail_to(promised.pk)
    [(to, mail)] = received
    assert to == [promised.email]
    body = mail.get_body(("plain",)).get_content()
    assert "Delivery Desk" in mail["Subject"]
    assert body.count("To-do for you · T-") == 2
    assert set(Dispatch.objects.values_list("state", flat=True)) == {"sent"}


def test_without_a_choice_the_installations_language_counts(received, promised):
    nine_o_clock_has_come()
    send_mail_to(promised.pk)
    assert "To-do for you" not in received[0][1].get_body(("plain",)).get_content()


def test_what_is_due_in_quiet_hours_waits_for_their_end(received, promised):
    nine_o_clock_has_come()
    now = timezone.localtime()
    services.set_mail_setting(
        actor=promised, quiet_from=(now - timedelta(hours=1)).time().replace(microsecond=0),
        quiet_until=(now + timedelta(hours=1)).time().replace(microsecond=0))
    send_mail_to(promised.pk)
    assert received == []
    assert all(row.due_at > timezone.now() for row in Dispatch.objects.all())
    services.set_mail_setting(actor=promised)
    nine_o_clock_has_come()
    send_mail_to(promised.pk)
    assert len(received) == 1


@pytest.mark.parametrize(("at", "until"), [
    ("2025-07-01T13:00", "2025-07-01T13:00"),  # 21:00 in Shanghai
    ("2025-07-01T14:00", "2025-07-01T23:30"),  # 22:00: until 07:30 of the next day
    ("2025-07-01T20:00", "2025-07-01T23:30"),  # 04:00
    ("2025-07-01T23:30", "2025-07-01T23:30"),  # 07:30 sharp
])
def test_quiet_hours_may_go_past_midnight(at, until):
    moment, end = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (at, until))
    assert after_quiet(moment, NIGHT, MORNING) == end
    assert after_quiet(moment, None, None) == moment


@pytest.mark.parametrize("fields", [
    {"language": "xx"}, {"quiet_from": NIGHT}, {"quiet_from": NIGHT, "quiet_until": NIGHT}])
def test_half_a_setting_is_refused(people, fields):
    with pytest.raises(InvalidInput):
        services.set_mail_setting(actor=people[Role.SALES], **fields)
    assert not MailSetting.objects.exists()


def test_page_and_api_store_it(client, people):
    client.force_login(people[Role.REVIEWER])
    page = reverse("notices:preferences")
    client.post(page, {"mail-setting": "1", "language": "en", "quiet_from": "22:00",
                       "quiet_until": "07:30"})
    stored = {"language": "en", "quiet_from": "22:00:00", "quiet_until": "07:30:00"}
    assert client.get("/api/v1/notices/mail-setting/").json() == stored
    assert 'value="22:00"' in client.get(page).content.decode()
    client.post("/api/v1/notices/mail-setting/", {"language": "zh-hans"})
    assert client.get("/api/v1/notices/mail-setting/").json() == {
        "language": "zh-hans", "quiet_from": None, "quiet_until": None}
