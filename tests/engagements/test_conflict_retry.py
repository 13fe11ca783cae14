"""A service that lost a conflict between writers is run again, but only where that is safe."""

import pytest
from django.db import OperationalError, transaction
from django.urls import path

from engagements import conflict_retry
from engagements.conflict_retry import TRIES, retried
from engagements.models import Customer, Role


class Deadlock(Exception):
    sqlstate = "40P01"


class Locked(Exception):
    sqlstate = "55P03"


def writing(failures: list[Exception]):
    """A service that writes a row and then fails in turn."""

    @retried
    @transaction.atomic
    def write(*, name: str) -> Customer:
        made = Customer.objects.create(name=name)
        if failures:
            raise OperationalError("conflict") from failures.pop(0)
        return made

    return write


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(conflict_retry, "PAUSE_SECONDS", 0)


@pytest.mark.django_db(transaction=True)
def test_a_lost_conflict_is_tried_again_and_written_once():
    assert writing([Deadlock(), Deadlock()])(name="甲").name == "甲"
    assert Customer.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("failures", "left"), [
    ([Locked(), Locked()], 1), ([Deadlock() for _n in range(TRIES + 1)], 1)])
def test_other_failures_and_endless_conflicts_are_told(failures, left):
    with pytest.raises(OperationalError):
        writing(failures)(name="甲")
    assert (len(failures), Customer.objects.count()) == (left, 0)


@pytest.mark.django_db(transaction=True)
def test_inside_a_transaction_of_the_caller_nothing_is_repeated():
    failures = [Deadlock(), Deadlock()]
    with pytest.raises(OperationalError), transaction.atomic():
        writing(failures)(name="甲")
    assert len(failures) == 1


def failing(_request):
    raise OperationalError("the database restarts")


def full(_request):
    with open("/dev/full", "w") as device:
        device.write("x")


urlpatterns = [path("api/v1/failing/", failing), path("api/v1/full/", full), path("full/", full)]
handler500 = "delivery.portal.error_pages.error_page"


@pytest.mark.django_db
def test_api_clients_get_a_problem_instead_of_a_page(client, settings, django_user_model):
    settings.ROOT_URLCONF = __name__
    client.raise_request_exception = False
    client.force_login(django_user_model.objects.create_user("x"))
    answer = client.get("/api/v1/failing/")
    assert (answer.status_code, answer["Content-Type"], answer["Retry-After"]) == (
        503, "application/problem+json", "5")
    assert answer.json()["title"] == "database_unavailable"
    answer = client.get("/api/v1/full/", headers={"Accept-Language": "en"})
    assert (answer.status_code, answer.json()["title"]) == (507, "storage_full")
    assert "disk that keeps files is full" in answer.json()["detail"]
    page = client.get("/full/")
    assert (page.status_code, "磁盘已满" in page.content.decode()) == (507, True)


def test_who_was_slower_with_a_name_is_told_so_on_page_and_api(client, people, monkeypatch):
    """Both checked the name before either saved it."""
    Customer.objects.create(name="华东电网")
    monkeypatch.setattr(Customer, "validate_unique", lambda *_args, **_more: None)
    monkeypatch.setattr("rest_framework.validators.UniqueValidator.__call__", lambda *_args: None)
    client.force_login(people[Role.MANAGER])
    api = client.post("/api/v1/customers/", {"name": "华东电网"}, "application/json")
    assert (api.status_code, api.json()["title"]) == (409, "duplicate")
    other = Customer.objects.create(name="华南电网")
    address = f"http://testserver/customers/{other.pk}/"
    page = client.post(address, {"name": "华东电网"}, headers={
        "Referer": address, "Accept-Language": "en"})
    assert (page.status_code, page["Location"]) == (302, f"/customers/{other.pk}/")
    assert "at the same moment" in client.get(
        page["Location"], headers={"Accept-Language": "en"}).content.decode()
    assert Customer.objects.filter(name="华东电网").count() == 1
