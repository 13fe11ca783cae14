"""Administrators say who signs in; managers and sales keep the customers' particulars."""

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.translation import override

from assessments.models import MetricDefinition
from delivery.quotes.models import PriceLine
from engagements import services
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Customer, Role, User

FACTS = {"username": "zhou", "password": "Delivery-2026!", "full_name": "周启明",
         "role": Role.CONSULTANT, "is_active": "on"}


def test_an_administrator_adds_people_who_then_sign_in(client, people):
    client.force_login(people[Role.ADMINISTRATOR])
    answer = client.post(reverse("people:new"), FACTS)
    assert answer.url == reverse("people:list")
    assert client.login(username="zhou", password=FACTS["password"])
    entry = AuditEntry.objects.get(action="person.add")
    assert FACTS["password"] not in str(entry.data)


def test_people_are_added_one_after_another_and_put_on_a_team_together(client, people, engagement):
    client.force_login(people[Role.ADMINISTRATOR])
    answer = client.post(reverse("people:new"), {**FACTS, "again": "yes"})
    assert answer.url == reverse("people:new")
    client.post(reverse("people:new"), {**FACTS, "username": "he", "full_name": "何嘉"})
    both = User.objects.filter(username__in=["zhou", "he"])
    place = reverse("engagements:team", args=[engagement.code])
    client.post(place, {"user": [person.pk for person in both]})
    assert engagement.memberships.filter(user__in=both, role=Role.CONSULTANT).count() == 2
    assert AuditEntry.objects.filter(action="member.add").count() == 2


def test_of_people_put_on_a_team_all_fit_or_none(people, engagement):
    outsider = services.add_person(actor=people[Role.ADMINISTRATOR], username="new",
                                   password="Delivery-2026!", role=Role.CONSULTANT)
    with pytest.raises(InvalidInput):
        services.add_members(actor=people[Role.MANAGER], engagement=engagement,
                             users=[outsider, people[Role.REVIEWER]], role=Role.CONSULTANT)
    assert not engagement.memberships.filter(user=outsider).exists()


def test_a_weak_password_and_a_taken_name_are_told(client, people):
    client.force_login(people[Role.ADMINISTRATOR])
    for wrong in ({"password": "123"}, {"username": "manager"}):
        page = client.post(reverse("people:new"), {**FACTS, **wrong})
        assert page.context["form"].errors
    assert not User.objects.filter(username="zhou").exists()


def test_who_is_locked_out_cannot_sign_in(client, people):
    admin, person = people[Role.ADMINISTRATOR], people[Role.SALES]
    services.update_person(actor=admin, person=person, is_active=False)
    assert not client.login(username="sales", password="Trial-2026!")
    services.update_person(actor=admin, person=person, is_active=True, password="Another-2026!")
    assert client.login(username="sales", password="Another-2026!")


def test_one_administrator_stays_and_sides_do_not_change(people, engagement):
    admin = people[Role.ADMINISTRATOR]
    for facts in ({"is_active": False}, {"role": Role.MANAGER}):
        with pytest.raises(WrongState):
            services.update_person(actor=admin, person=admin, **facts)
    with pytest.raises(WrongState):
        services.update_person(actor=admin, person=people[Role.REVIEWER], role=Role.SALES)
    for role in (Role.MANAGER, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            services.add_person(actor=people[role], username="x", password="Delivery-2026!")


def test_particulars_of_a_customer(client, people, engagement):
    customer = engagement.customer
    client.force_login(people[Role.SALES])
    client.post(reverse("people:customer", args=[customer.pk]), {
        "name": customer.name, "credit_code": "91310000MA1FL5XX0X", "contact_name": "陈国栋"})
    customer.refresh_from_db()
    assert (customer.credit_code, customer.contact_name) == ("91310000MA1FL5XX0X", "陈国栋")
    Customer.objects.create(name="另一家")
    with override("en"), pytest.raises(InvalidInput, match="already exists"):
        services.update_customer(actor=people[Role.MANAGER], customer=customer, name="另一家")
    with pytest.raises(NotAllowed):
        services.update_customer(actor=people[Role.CONSULTANT], customer=customer, name="x")


def test_people_by_api(client, people):
    client.force_login(people[Role.ADMINISTRATOR])
    made = client.post("/api/v1/people/", {**FACTS, "is_active": True}).json()
    assert ("password" in made, made["role"]) == (False, "consultant")
    answer = client.patch(f"/api/v1/people/{made['id']}/", {"job_title": "顾问"},
                          content_type="application/json")
    assert answer.json()["job_title"] == "顾问"
    client.force_login(people[Role.MANAGER])
    assert client.get("/api/v1/people/").status_code == 403


def test_begin_makes_an_empty_database_ready(db, monkeypatch, client):
    monkeypatch.setenv("DESK_ADMIN_PASSWORD", "Delivery-2026!")
    for _again in range(2):
        call_command("begin", "shen", name="沈管理")
    assert User.objects.get().role == Role.ADMINISTRATOR
    assert client.login(username="shen", password="Delivery-2026!")
    assert MetricDefinition.objects.exists()
    assert PriceLine.objects.filter(code="S-TEST").exists()
