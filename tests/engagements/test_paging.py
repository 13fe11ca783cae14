"""Long lists: every row is reached once, pages far back cost no more, nonsense is harmless."""

import pytest
from django.db import connection
from django.db.models.functions import Length
from django.test.utils import CaptureQueriesContext

from engagements.models import Customer, Role, User
from engagements.web import paging
from engagements.web.paging import count_text, page_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(monkeypatch):
    """Eleven people of two names; windows of two pages of two rows."""
    monkeypatch.setattr(paging, "PAGES", 2)
    User.objects.bulk_create([User(username=f"u{n:02}", full_name="甲" if n % 2 else "乙")
                              for n in range(11)])
    return User.objects.order_by("-full_name")


def walked(rows) -> list[int]:
    """The keys of all pages, as somebody sees them who follows the link “next”."""
    found, params = [], {}
    for _n in range(100):
        page = page_of(rows, params, 2)
        found += [row.pk for row in page]
        if page.has_next():
            params = {**params, "page": str(page.next_page_number())}
        elif page.after:
            params = {"after": page.after}
        else:
            return found
    raise AssertionError("the list has no end")


def test_the_links_lead_through_all_rows_in_their_order(rows):
    assert walked(rows) == list(rows.order_by("-full_name", "pk").values_list("pk", flat=True))
    first = page_of(rows, {"page": "99"}, 2)
    assert (first.number, first.paginator.total_text) == (2, "11")
    second = page_of(rows, {"after": first.after}, 2)
    assert (second.paginator.total, second.paginator.is_anchored) == (11, True)


@pytest.mark.parametrize("after", [
    "x", "[]", "[1]", '["\\u0000",1]', '["甲","x"]', '["甲",[1]]', "[" * 500, '[null,null]',
    "9" * 40, '["甲",' + "9" * 40 + "]"])
def test_a_link_that_was_tampered_with_begins_anew_or_ends(rows, after):
    assert len(page_of(rows, {"after": after, "page": "²"}, 2)) <= 2


def test_what_is_computed_for_rows_is_computed_for_those_of_the_page(rows):
    computed = rows.annotate(length=Length("username"))
    with CaptureQueriesContext(connection) as asked:
        page = page_of(computed, {}, 2)
        assert [row.length for row in page] == [3, 3]
    keys = asked[-1]["sql"].split(" IN (SELECT ")[1]
    assert "LIMIT 2" in keys
    assert "LENGTH" not in keys
    assert walked(computed) == walked(rows)


def test_counts_stop_at_their_limit(rows):
    with CaptureQueriesContext(connection) as asked:
        assert page_of(rows, {}, 2).paginator.total == 11
    assert f"LIMIT {paging.MOST_COUNTED + 1}" in asked[-1]["sql"]
    assert paging.counted(rows, 5) == 6
    assert (count_text(10, 10), count_text(11, 10)) == ("10", "10+")


def test_api_clients_follow_next_through_all_rows(client, people, monkeypatch):
    monkeypatch.setattr(paging, "PAGES", 2)
    Customer.objects.bulk_create([Customer(name=f"客户{n:02}") for n in range(9)])
    client.force_login(people[Role.MANAGER])
    url, names = "/api/v1/customers/?page_size=2", []
    while url:
        answer = client.get(url).json()
        names += [row["name"] for row in answer["results"]]
        url = answer["next"]
    assert sorted(names) == sorted(Customer.objects.values_list("name", flat=True))
    assert (answer["is_count_exact"], answer["count"]) == (True, len(names))


def test_a_filter_without_an_index_has_windows_of_one_page(rows):
    page = page_of(rows, {"page": "9"}, 2, pages=1)
    assert (page.number, page.paginator.num_pages) == (1, 1)
    seen = [row.pk for row in page]
    while page.after:
        page = page_of(rows, {"after": page.after}, 2, pages=1)
        seen += [row.pk for row in page]
    assert len(seen) == len(set(seen)) == 11
