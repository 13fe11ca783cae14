"""Lists of a person's own engagements: the rows of the plain list, in its order, none twice."""

import random
import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engagements.models import (
    ChecklistItem,
    Customer,
    Engagement,
    Membership,
    MigratedModel,
    Role,
    StageRecord,
    User,
)
from engagements.models.visibility import in_engagements_of
from engagements.web import paging, scoped_pages
from engagements.web.paging import page_of
from engagements.web.scoped_pages import first_rows, scope_of, without
from workers.models import Job

from .test_paging import walked

pytestmark = pytest.mark.django_db
ENDED = {"state": "cancelled", "finished_at": "2026-01-01T00:00:00Z"}


def fleet(seed: int, role: Role = Role.CONSULTANT) -> User:
    """Somebody who is in some of twelve engagements; jobs of all of them, in runs and mixed."""
    rand = random.Random(seed)
    person = User.objects.create_user(f"p{seed}", role=role)
    customer = Customer.objects.create(name=f"c{seed}")
    works = Engagement.objects.bulk_create([
        Engagement(code=f"S{seed}-{n}", name="x", customer=customer) for n in range(12)])
    Membership.objects.bulk_create([
        Membership(engagement=work, user=person)
        for work in rand.sample(works, rand.randint(0, 7))])
    places = [rand.choice([*works, None]) for _n in range(rand.randint(0, 90))]
    if rand.random() < 0.5:
        places.sort(key=lambda work: work.pk if work else 0)
    Job.objects.bulk_create([
        Job(kind=rand.choice("ab"), engagement=work, **(ENDED if rand.random() < 0.5 else {}))
        for work in places])
    return person


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("order", ["-pk", "pk"])
def test_pages_hold_the_rows_of_the_plain_list(seed, order, monkeypatch):
    monkeypatch.setattr(paging, "PAGES", 3)
    seen = Job.objects.visible_to(fleet(seed)).order_by(order)
    for rows in (seen, seen.filter(state="cancelled"), seen.filter(kind="a").listed(),
                 seen.in_trouble(), seen.filter(engagement__code__endswith="1")):
        assert walked(rows) == list(rows.values_list("pk", flat=True))


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.MANAGER, Role.ADMINISTRATOR])
def test_pages_of_other_roles(role, monkeypatch):
    monkeypatch.setattr(paging, "PAGES", 3)
    rows = Job.objects.visible_to(fleet(3, role)).order_by("-pk")
    assert walked(rows) == list(rows.values_list("pk", flat=True))


@pytest.mark.parametrize("seed", range(4))
def test_the_first_rows_are_those_of_the_plain_list(seed):
    seen = Job.objects.visible_to(fleet(seed)).filter(kind="a")
    for rows in (seen, seen.order_by("pk"), seen.order_by("kind", "-pk")):
        assert list(first_rows(rows, 4)) == list(rows[:4])


@pytest.mark.parametrize(("each", "count", "is_merged"), [
    (50, 10_000, True),  # every row passes the filters
    (50, 200, False),  # one of an engagement does: fifty are read for it
    (3, 200, True), (50, 20, False)])
def test_engagements_are_read_where_a_walk_would_read_more(each, count, is_merged, monkeypatch):
    sizes = iter([(10_000, 10_000 * each), 200])
    monkeypatch.setattr(scoped_pages, "_remembered", lambda _key, _ask: next(sizes))
    rows = Job.objects.visible_to(fleet(8)).filter(token="x")
    assert scoped_pages._is_cheaper(rows, scope_of(rows), 30, count) is is_merged


def test_a_filter_that_an_index_has_beside_the_engagement_is_always_merged(monkeypatch):
    rows = Job.objects.visible_to(fleet(9)).filter(kind="a")
    monkeypatch.setattr(scoped_pages, "_remembered", None)
    assert scoped_pages._is_cheaper(rows, scope_of(rows), 30, 200)


def test_estimates_are_asked_for_again_after_a_while(monkeypatch):
    asked = iter(range(9))
    key = ("test", object())
    assert [scoped_pages._remembered(key, lambda: next(asked)) for _n in range(3)] == [0, 0, 0]
    later = time.monotonic() + scoped_pages.REMEMBERED_SECONDS
    monkeypatch.setattr(scoped_pages.time, "monotonic", lambda: later)
    assert scoped_pages._remembered(key, lambda: next(asked)) == 1


def test_customers_of_own_engagements():
    person = fleet(7)
    own = {work.customer_id for work in Engagement.objects.visible_to(person)}
    fleet(11)
    assert own
    assert set(Customer.objects.visible_to(person).values_list("pk", flat=True)) == own


def test_one_statement_reads_a_page_by_engagement():
    rows = Job.objects.visible_to(fleet(5)).order_by("-pk")
    page = page_of(rows, {"page": "2"}, 5)
    with CaptureQueriesContext(connection) as asked:
        assert [row.pk for row in page] == list(rows.values_list("pk", flat=True)[5:10])
    is_merged = "WITH RECURSIVE ends" in asked[0]["sql"]
    assert is_merged is (connection.vendor == "postgresql")


def test_the_scope_is_found_over_other_tables_and_with_rows_of_none():
    person = fleet(6)
    deep = scope_of(ChecklistItem.objects.filter(
        in_engagements_of(person, "record__model__engagement")))
    assert (deep.path, deep.or_none) == ("record__model__engagement_id", False)
    jobs = Job.objects.visible_to(person)
    assert (scope_of(jobs).path, scope_of(jobs).or_none) == ("engagement_id", True)
    assert without(jobs, scope_of(jobs)).count() == Job.objects.count() >= jobs.count()
    assert scope_of(Job.objects.all()) is None
    assert scope_of(Job.objects.exclude(in_engagements_of(person, "engagement"))) is None
    assert scope_of(jobs.visible_to(person)) is None  # two of them: neither is the list's own


@pytest.mark.slow
def test_api_lists_over_another_table_lead_through_every_row(client, monkeypatch):
    monkeypatch.setattr(paging, "PAGES", 2)
    person = fleet(7)
    works = list(Engagement.objects.order_by("pk"))
    for number, work in enumerate(works):
        model = MigratedModel.objects.create(engagement=work, code="M", name="z")
        StageRecord.objects.bulk_create([
            StageRecord(model=model, stage=f"s{number}{k}", position=k) for k in range(3)])
    mine = set(person.memberships.values_list("engagement_id", flat=True))
    client.force_login(person)
    url, found = "/api/v1/stages/?page_size=2", []
    while url:
        answer = client.get(url).json()
        found += [row["id"] for row in answer["results"]]
        url = answer["next"]
    expected = StageRecord.objects.filter(model__engagement__in=mine).order_by(
        "-model__engagement_id", "pk")
    assert found == list(expected.values_list("pk", flat=True))
    assert len(mine) >= 2
