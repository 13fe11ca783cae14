"""Customers are seen and changed only by those who work on one of their engagements."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from engagements import services
from engagements.errors import NotAllowed
from engagements.models import Customer, Engagement, Role


@pytest.fixture
def other(people):
    """A customer with an engagement on which only the manager works."""
    customer = Customer.objects.create(name="另一家客户", contact_name="赵秘密")
    Engagement.objects.create(code="OTHER1", name="别家项目", customer=customer)
    return customer


@pytest.fixture
def second_engagement_of_same_customer(engagement):
    return Engagement.objects.create(code="SAME2", name="二期", customer=engagement.customer)


INTERNAL = [Role.CONSULTANT, Role.SALES]


def api_of(person):
    client = APIClient()
    client.force_authenticate(person)
    return client


@pytest.mark.parametrize("role", [*INTERNAL, Role.OPERATOR, Role.REVIEWER])
def test_strangers_to_a_customer_get_404(people, engagement, other, role):
    api = api_of(people[role])
    listed = [row["id"] for row in api.get("/api/v1/customers/").json()["results"]]
    assert other.pk not in listed
    assert api.get(f"/api/v1/customers/{other.pk}/").status_code == 404
    assert api.patch(f"/api/v1/customers/{other.pk}/", {"industry": "x"}).status_code == 404
    other.refresh_from_db()
    assert other.industry == ""


@pytest.mark.parametrize("role", INTERNAL)
def test_members_see_their_customer_and_only_their_own_codes(
        client, people, engagement, other, second_engagement_of_same_customer, role):
    client.force_login(people[role])
    page = client.get(reverse("people:customers")).content.decode()
    assert engagement.code in page
    assert "SAME2" not in page
    assert other.name not in page
    assert other.contact_name not in page


@pytest.mark.parametrize("role", [Role.ADMINISTRATOR, Role.MANAGER])
def test_managers_see_all(people, engagement, other, role):
    listed = {row["id"] for row in api_of(people[role]).get("/api/v1/customers/").json()["results"]}
    assert listed == {engagement.customer_id, other.pk}


def test_sales_of_another_engagement_change_nothing(client, people, engagement, other):
    with pytest.raises(NotAllowed):
        services.update_customer(actor=people[Role.SALES], customer=other, industry="x")
    client.force_login(people[Role.SALES])
    assert client.post(reverse("people:customer", args=[other.pk]),
                       {"name": "x"}).status_code == 404
    assert client.get(reverse("people:customer", args=[engagement.customer_id])).status_code == 200
