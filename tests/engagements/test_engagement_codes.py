"""Which codes an engagement may have: addresses hold them, and each leads to its own pages."""

import pytest
from django.urls import reverse

from engagements import services
from engagements.errors import InvalidInput
from engagements.models import Customer, Engagement, Role

pytestmark = pytest.mark.django_db


def create(people, code: str) -> Engagement:
    customer = Customer.objects.get_or_create(name="某银行")[0]
    return services.create_engagement(actor=people[Role.MANAGER], code=code, name="迁移",
                                      customer=customer)


@pytest.mark.parametrize("code", ["2026/01", "..", ".a", "a b", "", "a?", "a#b", "2026", "new",
                                  "%2e", "a.b"])
def test_a_code_that_is_no_address_of_its_own_is_refused(people, client, code):
    with pytest.raises(InvalidInput):
        create(people, code)
    client.force_login(people[Role.MANAGER])
    customer = Customer.objects.get(name="某银行")
    answer = client.post(reverse("engagements:new"), {
        "code": code, "name": "迁移", "customer": customer.pk})
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not Engagement.objects.exists()


@pytest.mark.parametrize("code", ["EP2501", "2026-01", "迁移-01", "a_b"])
def test_a_code_leads_to_the_engagement(people, client, code):
    create(people, code)
    client.force_login(people[Role.MANAGER])
    for path in (reverse("engagements:engagement", args=[code]), "/",
                 f"/api/v1/engagements/{code}/"):
        assert client.get(path).status_code == 200
