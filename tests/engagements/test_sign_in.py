"""Limits of guessing, sign-ins that end, passwords by e-mail, roles that nobody can exceed."""

import re
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from delivery.notices.models import MailSetting
from delivery.operation import retention
from delivery.portal.password_reset.mail import send_link
from delivery.portal.password_reset.views import MOST_PER_ACCOUNT, SEND_LINK
from engagements import services
from engagements.errors import NotAllowed
from engagements.models import AuditEntry, Membership, Role, SignIn, User

PASSWORD = "Trial-2026!"


class Directory(ModelBackend):
    """Knows everybody, whatever their password."""

    def authenticate(self, request, username="", **_credentials):
        return User.objects.get(username=username)


def attempt(address: str, name: str = "manager", password: str = "wrong"):
    return Client().post("/login/", {"username": name, "password": password}, REMOTE_ADDR=address)


def test_an_address_that_guesses_at_many_names_has_to_wait(people, settings):
    settings.LOGIN_ADDRESS_LIMIT = 4
    for number in range(4):
        attempt("10.0.0.1", f"nobody{number}")
    assert attempt("10.0.0.1", password=PASSWORD).status_code == 200  # refused: the form again
    assert attempt("10.0.0.2", password=PASSWORD).status_code == 302


def test_wrong_old_passwords_count_like_those_at_the_log_in(client, people, settings):
    settings.AXES_ENABLED = True
    client.force_login(people[Role.MANAGER])
    new = {"new_password1": "Another-2026!", "new_password2": "Another-2026!"}
    tried = [client.post("/password/", {"old_password": "wrong", **new}).status_code
             for _time in range(settings.AXES_FAILURE_LIMIT)]
    assert set(tried[:-1]) == {200}
    assert client.post("/password/", {"old_password": PASSWORD, **new}).status_code == 429
    assert attempt("127.0.0.1", password=PASSWORD).status_code == 429
    assert attempt("10.0.0.2", password=PASSWORD).status_code == 302  # the password is the old one


def test_who_has_no_password_here_chooses_none_with_the_directory_s(client, people, settings):
    person = people[Role.MANAGER]
    person.set_unusable_password()
    person.save()
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.Directory"]
    client.force_login(person, settings.AUTHENTICATION_BACKENDS[0])
    page = client.post("/password/", {"old_password": "Directory-2026", "new_password1": PASSWORD,
                                      "new_password2": PASSWORD})
    assert "old_password" in page.context["form"].errors


def test_the_administration_changes_passwords_where_everybody_does(client, people):
    client.force_login(people[Role.ADMINISTRATOR])
    for answer in (client.get("/admin/password_change/"), client.post("/admin/password_change/")):
        assert (answer.status_code, answer.url) == (302, "/password/")


@pytest.mark.parametrize(("proxies", "peer", "forwarded", "seen"), [
    ([], "10.0.0.9", "1.2.3.4", "10.0.0.9"),
    (["10.0.0.0/8"], "10.0.0.9", "6.6.6.6, 1.2.3.4", "1.2.3.4"),
    (["10.0.0.0/8"], "10.0.0.9", "6.6.6.6, 1.2.3.4, 10.0.0.7", "1.2.3.4"),
    (["10.0.0.0/8"], "10.0.0.9", "1.2.3.4, nonsense", "10.0.0.9"),
    (["10.0.0.0/8"], "8.8.8.8", "1.2.3.4", "8.8.8.8")])
def test_only_trusted_proxies_say_where_somebody_is(people, settings, proxies, peer, forwarded,
                                                    seen):
    settings.TRUSTED_PROXIES = proxies
    Client().post("/login/", {"username": "manager", "password": PASSWORD}, REMOTE_ADDR=peer,
                  headers={"X-Forwarded-For": forwarded})
    assert SignIn.objects.get().address == seen
    assert AuditEntry.objects.get(action="user.login").data == {"from": seen}


def test_the_scheme_of_a_trusted_proxy_counts(client, people, settings):
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 3600
    secure = client.get("/login/", REMOTE_ADDR="10.0.0.9", headers={"X-Forwarded-Proto": "https"})
    plain = client.get("/login/", REMOTE_ADDR="8.8.8.8", headers={"X-Forwarded-Proto": "https"})
    assert (secure.status_code, secure["Strict-Transport-Security"]) == (200, "max-age=3600")
    assert (plain.status_code, plain["Location"]) == (301, "https://testserver/login/")


def test_administrators_read_who_signed_in_when_and_from_where(client, people):
    client.post("/login/", {"username": "manager", "password": "wrong"}, REMOTE_ADDR="8.8.8.8")
    client.post("/login/", {"username": "manager", "password": PASSWORD}, REMOTE_ADDR="8.8.4.4")
    client.post("/logout/", REMOTE_ADDR="8.8.4.4")
    admin = Client()
    admin.force_login(people[Role.ADMINISTRATOR])

    def shown(**asked):
        page = admin.get(reverse("people:log_ins"), asked)
        rows = re.findall(r"<tbody>(.*)</tbody>", page.content.decode(), re.DOTALL)[0]
        return [[" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in
                 re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)][:3]
                for row in rows.split("</tr>")[:-1]]

    name = str(people[Role.MANAGER])
    assert shown(person="manager") == [[name, "已退出", "8.8.4.4"],
                                       [name, "已登录", "8.8.4.4"],
                                       [name, "已拒绝", "8.8.8.8"]]
    assert len(shown()) == 4


def test_others_of_one_s_sign_ins_end(people):
    here, there, elsewhere = Client(), Client(), Client()
    for client in (here, there):
        client.login(username="manager", password=PASSWORD)
        client.post("/login/", {"username": "manager", "password": PASSWORD})
    elsewhere.force_login(people[Role.SALES])
    assert SignIn.objects.visible_to(people[Role.MANAGER]).count() >= 2
    here.post(reverse("people:sign_ins_end"))
    assert here.get("/").status_code == 200
    assert there.get("/").status_code == 302
    assert elsewhere.get("/").status_code == 200
    assert AuditEntry.objects.filter(action="user.end_sign_ins").count() == 1
    stranger = SignIn.objects.get(user=people[Role.SALES])
    assert here.post(reverse("people:sign_in_end", args=[stranger.pk])).status_code == 404
    assert elsewhere.get("/").status_code == 200


def test_a_forgotten_password_is_replaced_by_a_link_that_works_once(client, people, monkeypatch):
    person, sent = people[Role.MANAGER], []
    person.email = "manager@firm.example"
    person.save()
    monkeypatch.setattr("delivery.portal.password_reset.views.enqueue",
                        lambda task, pk, **_rest: sent.append((task, pk)))
    signed_in = Client()
    signed_in.force_login(person)
    for account in ["manager@FIRM.example", "manager", "nobody", "sales", *["manager"] * 5]:
        answer = client.post(reverse("portal:password_link"), {"account": account})
        assert answer.url == reverse("login")
    assert sent == [(SEND_LINK, person.pk)] * MOST_PER_ACCOUNT

    send_link(person.pk)
    (message,) = mail.outbox
    link = re.search(rf"{re.escape(settings.PUBLIC_URL)}(\S+)", message.body).group(1)
    assert "一小时" in message.body  # both languages: nobody is signed in to say which
    assert "within an hour" in message.body
    ((html, _kind),) = message.alternatives
    assert [html.count(f'<section lang="{code}"') for code in ("zh-hans", "en")] == [1, 1]
    page = client.get(link, follow=True)
    new = {"new_password1": "Another-2026!", "new_password2": "Another-2026!"}
    assert client.post(page.redirect_chain[-1][0], new).url == reverse("login")

    assert client.login(username="manager", password="Another-2026!")
    assert signed_in.get("/").status_code == 302
    again = Client().get(link, follow=True)
    assert again.context["validlink"] is False
    assert AuditEntry.objects.filter(action="user.password_reset").count() == 1


def test_a_link_for_a_new_password_comes_in_the_language_chosen_for_e_mails(people):
    person = people[Role.MANAGER]
    person.email = "manager@firm.example"
    person.save()
    MailSetting.objects.create(user=person, language="en")
    send_link(person.pk)
    (message,) = mail.outbox
    assert message.subject == "[Delivery Desk] A new password"
    assert "一小时" not in message.body


def test_nobody_gives_a_role_that_exceeds_their_own(people, engagement, stranger):
    manager = people[Role.MANAGER]
    with pytest.raises(NotAllowed):
        services.add_member(actor=manager, engagement=engagement, user=stranger,
                            role=Role.ADMINISTRATOR)
    assert not Membership.objects.filter(user=stranger).exists()
    services.add_member(actor=manager, engagement=engagement, user=stranger, role=Role.SALES)
    services.add_member(actor=people[Role.ADMINISTRATOR], engagement=engagement, user=stranger,
                        role=Role.ADMINISTRATOR)


def test_headers_of_pages(client, people):
    client.force_login(people[Role.MANAGER])
    page = client.get("/")
    policy = page["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "'unsafe-inline'" not in re.sub(r"style-src[^;]*", "", policy)
    assert "unsafe-eval" not in policy
    assert page["Cache-Control"] == "no-store, private"
    assert "camera=()" in page["Permissions-Policy"]


@pytest.mark.slow
def test_the_schema_is_made_once_per_format_and_language(client, people):
    client.force_login(people[Role.MANAGER])
    first = client.get("/api/schema/")
    assert first["Cache-Control"] == "private, max-age=300"
    assert first.content == client.get("/api/schema/").content
    as_json = client.get("/api/schema/?format=json")
    assert as_json.json()["info"]["title"] == "Delivery Desk"
    english = client.get("/api/schema/?lang=en").content
    assert english != first.content


@pytest.fixture
def after(monkeypatch):
    """Sets the clock to so many minutes after the beginning of the test."""
    began, at_first = timezone.now(), time.time()

    def set_clock(minutes: int) -> None:
        monkeypatch.setattr(timezone, "now", lambda: began + timedelta(minutes=minutes))
        monkeypatch.setattr(time, "time", lambda: at_first + 60 * minutes)
    return set_clock


HOUR = 60
POLL = {"X-Desk-Polling": "yes"}


@pytest.mark.slow
def test_a_sign_in_ends_eight_hours_after_it_was_last_used(client, people, after):
    after(0)
    client.force_login(people[Role.MANAGER])
    for hours in (7, 14, 21):
        after(hours * HOUR)
        assert client.get("/").status_code == 200
        assert client.cookies["sessionid"]["max-age"] == 8 * 3600
    after(30 * HOUR)
    assert client.get("/").status_code == 302
    assert not SignIn.objects.visible_to(people[Role.MANAGER]).exists()


def test_an_open_page_that_asks_by_itself_keeps_nobody_signed_in(client, people, after):
    after(0)
    client.force_login(people[Role.MANAGER])
    after(7 * HOUR)
    assert client.get("/", headers=POLL).status_code == 200
    after(8 * HOUR + 1)
    assert client.get("/", headers=POLL).status_code == 302


@pytest.mark.slow
def test_a_session_is_written_once_in_five_minutes(client, people, after):
    after(0)
    client.force_login(people[Role.MANAGER])
    ends = []
    for minutes in (1, 4, 6, 10, 12):
        after(minutes)
        client.get("/")
        ends.append(Session.objects.get().expire_date)
    assert [ends[0] == end for end in ends] == [True, True, False, False, False]
    assert [ends[2] == end for end in ends] == [False, False, True, True, False]


def test_ended_sign_ins_are_removed(client, people, after):
    after(0)
    client.force_login(people[Role.MANAGER])
    retention.apply_rules(timezone.now())
    assert SignIn.objects.count() == 1
    after(8 * HOUR + 1)
    assert retention.apply_rules(timezone.now())["sessions"] == 1
    assert not SignIn.objects.exists()
