"""People who are invited from a list: preview, e-mail, and a link that works once."""

import io
import re
import time
from types import SimpleNamespace

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.translation import override
from openpyxl import Workbook, load_workbook

from delivery.portal.invitations import services
from delivery.portal.invitations.mail import VALID_DAYS, send_invitation, token_of
from delivery.portal.invitations.people_rows import empty_list, people_rows
from delivery.portal.password_reset.views import MOST_PER_ACCOUNT, SEND_LINK
from delivery.portal.tasks import send_password_link
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role, User

pytestmark = pytest.mark.django_db
HEADINGS = ["姓名", "邮箱", "角色", "单位"]
CHOSEN = "A-long-Chosen-Password-7"


def workbook(*rows) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def upload(client, data: bytes, name: str = "people.xlsx"):
    return client.post(reverse("portal:invite"), {"list": SimpleUploadedFile(name, data)})


@pytest.fixture
def administrator(client, people):
    client.force_login(people[Role.ADMINISTRATOR])
    return client


def invite(people, **facts) -> User:
    facts = {"username": "lin", "full_name": "林悦", "email": "lin@firm.example",
             "role": Role.CONSULTANT, **facts}
    return services.invite_people(actor=people[Role.ADMINISTRATOR], people=[facts])[0]


def test_a_list_is_previewed_and_then_everybody_is_invited(
        administrator, django_capture_on_commit_callbacks, monkeypatch):
    sent = []
    monkeypatch.setattr("engagements.queue.enqueue",
                        lambda task, pk, **_rest: sent.append((task, pk)))
    page = upload(administrator, workbook(
        HEADINGS, ["林悦", "lin@firm.example", "交付顾问", "迁移公司"],
        ["Ann Reed", "ann@customer.example", "reviewer", "Customer"]))
    assert [row.faults for row in page.context["rows"]] == [[], []]
    assert not User.objects.filter(username="lin").exists()
    with django_capture_on_commit_callbacks(execute=True):
        administrator.post(reverse("portal:invite"), {"rows": page.context["signed"]})
    lin, ann = User.objects.get(username="lin"), User.objects.get(username="ann")
    assert (lin.role, lin.organisation, ann.role) == (Role.CONSULTANT, "迁移公司", Role.REVIEWER)
    assert not lin.has_usable_password()
    assert sent == [(services.SEND_INVITATION, lin.pk), (services.SEND_INVITATION, ann.pk)]
    assert AuditEntry.objects.filter(action="person.invite").count() == 2


def test_each_fault_stands_at_its_row_and_nobody_is_invited(administrator, people):
    before = User.objects.count()
    with override("en"):
        administrator.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
        page = upload(administrator, b"name,email,role,user\n"
                      b"Lin,lin@firm.example,juggler,lin\n"
                      b"Ann,not-an-address,reviewer,ann\n"
                      b"Max,max@firm.example,sales,manager\n"
                      b"Eva,eva@firm.example,sales,lin\n", "people.csv")
        faults = [" ".join(row.faults) for row in page.context["rows"]]
    for words, found in zip(("juggler", "E-mail", "Log-in name", "several rows"), faults,
                            strict=True):
        assert words in found
    administrator.post(reverse("portal:invite"), {"rows": page.context["signed"]})
    assert User.objects.count() == before


@pytest.mark.parametrize(("data", "name"), [
    (b"", "people.csv"), (b"name,email\n", "people.csv"), (b"PK\x03\x04damaged", "people.xlsx"),
    (b"\x00\x01\x02\x03" * 100, "people.xls"),
    (b"name,email\n" + b"a,a@b.example\n" * 201, "people.csv")])
def test_files_that_are_no_list_are_refused_with_a_sentence(administrator, data, name):
    page = upload(administrator, data or b"\n", name)
    assert page.status_code == 200
    assert page.context["form"].errors["list"]


def test_a_changed_preview_is_refused(administrator):
    before = User.objects.count()
    administrator.post(reverse("portal:invite"), {"rows": "eyJh:forged"})
    assert User.objects.count() == before


def test_the_link_chooses_a_password_once(client, people):
    person = invite(people)
    send_invitation(person.pk)
    message = mail.outbox[-1]
    assert "lin" in message.body
    link = re.search(r"/invitation/\S+", message.body)[0]
    weak = client.post(link, {"new_password1": "12345", "new_password2": "12345"})
    assert weak.context["form"].errors
    client.post(link, {"new_password1": CHOSEN, "new_password2": CHOSEN})
    assert client.login(username="lin", password=CHOSEN)
    client.logout()
    assert client.get(link).context["form"] is None
    sent = len(mail.outbox)
    send_invitation(person.pk)
    assert len(mail.outbox) == sent
    with pytest.raises(WrongState):
        services.invite_again(actor=people[Role.ADMINISTRATOR], person=User.objects.get(
            username="lin"))


def test_a_link_ends_after_a_week_and_with_the_account(client, people, monkeypatch):
    person = invite(people)
    with monkeypatch.context() as then:
        then.setattr("django.core.signing.time", SimpleNamespace(
            time=lambda: time.time() - VALID_DAYS * 86400 - 60))
        too_old = reverse("portal:invitation", args=[token_of(person)])
    link = reverse("portal:invitation", args=[token_of(person)])
    assert client.get(too_old).context["form"] is None
    assert client.get(link).context["form"]
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert client.get(link).context["form"] is None


def test_a_dead_link_is_sent_anew_to_whoever_was_invited(client, people, monkeypatch):
    """The page sends it; no answer says who is known, and nobody is sent more than a few."""
    person, asked = invite(people), []
    monkeypatch.setattr("delivery.portal.password_reset.views.enqueue",
                        lambda task, pk, **_rest: asked.append((task, pk)))
    dead = client.get(reverse("portal:invitation", args=["x"])).content.decode()
    action = re.search(r'<form method="post" action="([^"]*password[^"]*)"', dead)[1]
    answers = [client.post(action, {"account": account}, follow=True)
               for account in ("LIN@firm.example", "nobody@firm.example", *["lin"] * 4)]
    said = {str(message) for answer in answers for message in answer.context["messages"]}
    assert (len(said), {answer.redirect_chain[0][0] for answer in answers}) == (
        1, {reverse("login")})
    assert asked == [(SEND_LINK, person.pk)] * MOST_PER_ACCOUNT
    send_password_link(person.pk)
    (message,) = mail.outbox
    link = re.search(r"/invitation/\S+", message.body)[0]
    client.post(link, {"new_password1": CHOSEN, "new_password2": CHOSEN})
    assert client.login(username="lin", password=CHOSEN)
    send_password_link(person.pk)
    assert "/password/link/" in mail.outbox[1].body  # from now on a new password


def test_one_wrong_person_keeps_all_out(people):
    with pytest.raises(InvalidInput, match="2"):
        services.invite_people(actor=people[Role.ADMINISTRATOR], people=[
            {"username": "lin", "email": "lin@firm.example", "role": Role.SALES},
            {"username": "manager", "email": "m@firm.example", "role": Role.SALES}])
    assert not User.objects.filter(username="lin").exists()
    with pytest.raises(NotAllowed):
        services.invite_people(actor=people[Role.MANAGER], people=[])


def test_the_empty_list_reads_back(people):
    for language in ("zh-hans", "en"):
        with override(language):
            book = load_workbook(io.BytesIO(empty_list()))
        book.active.append(["林悦", "lin@firm.example", "consultant"])
        out = io.BytesIO()
        book.save(out)
        out.seek(0)
        row, = people_rows(out, "people.xlsx")
        assert (row.facts["full_name"], row.facts["username"], row.faults) == ("林悦", "lin", [])


def test_a_list_may_name_people_in_english(administrator, people):
    data = workbook([*HEADINGS, "英文名", "job title (English)", "Organisation (English)"],
                    ["林悦", "lin@firm.example", "consultant", "迁移公司", "Lin Yue", "Consultant",
                     "Migration Ltd."])
    row, = people_rows(io.BytesIO(data), "people.xlsx")
    page = upload(administrator, data).content.decode()
    assert all(text in page for text in ("Lin Yue", "Consultant", "Migration Ltd."))
    person = invite(people, **row.facts)
    assert (person.full_name_en, person.job_title_en, person.organisation_en) == (
        "Lin Yue", "Consultant", "Migration Ltd.")


def test_api_invites_a_list_or_nobody(administrator):
    person = {"username": "lin", "full_name": "Lin", "email": "lin@firm.example",
              "role": "consultant"}
    answer = administrator.post("/api/v1/invitations/", {"people": [person, {
        **person, "username": "lin2", "role": "juggler"}]}, content_type="application/json")
    assert answer.status_code == 400
    answer = administrator.post("/api/v1/invitations/", {"people": [person]},
                                content_type="application/json")
    assert (answer.status_code, answer.json()[0]["username"]) == (201, "lin")
