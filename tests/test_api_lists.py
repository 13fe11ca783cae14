"""Every list of the API: filters that do not exist and sizes of pages, as its description says."""

from functools import cache
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from rest_framework.test import APIClient

from delivery.api import urlpatterns
from engagements.models import Role

ROUTER = next(entry for entry in urlpatterns if str(entry.pattern) == "v1/")
PER_ENGAGEMENT = "(?P<engagement_code>[^/.]+)"


def lists() -> list[str]:
    """Addresses below /api/v1/ that GET answers and that name no single row."""
    found = []
    for entry in ROUTER.url_patterns:
        path = str(entry.pattern).removeprefix("^").removesuffix("$").replace(
            PER_ENGAGEMENT, "{engagement_code}")
        is_row = getattr(entry.callback, "initkwargs", {}).get("detail", True)
        if "get" in getattr(entry.callback, "actions", {}) and not is_row:
            found.append(path)
    return sorted(found)


LISTS = lists()


@cache
def document() -> dict:
    """The committed description of the API."""
    return yaml.safe_load((Path(settings.BASE_DIR) / "docs" / "openapi.yaml").read_text())


@cache
def described() -> dict[str, dict]:
    """Query parameters of every GET, by path and name, as the committed description has them."""
    return {path: {parameter["name"]: parameter for parameter in
                   operations.get("get", {}).get("parameters", []) if parameter["in"] == "query"}
            for path, operations in document()["paths"].items()}


@pytest.fixture
def api(people, engagement):
    client = APIClient(headers={"accept-language": "en"})
    client.force_authenticate(people[Role.ADMINISTRATOR])

    def got(path: str, **query):
        return client.get(f"/api/v1/{path.format(engagement_code=engagement.code)}", query)

    return got


def test_the_lists_of_every_app_are_walked():
    assert len(LISTS) > 100
    assert {"engagements/", "board/", "audit-entries/", "audit-entries/check/", "search/",
            "engagements/{engagement_code}/next-steps/"} <= set(LISTS)


@pytest.mark.parametrize("path", LISTS)
def test_filters_and_sizes_of_pages_are_those_described(api, path):
    """A list in pages gives as many rows as asked for; another refuses to be asked."""
    answer = api(path, no_such_filter="1")
    assert answer.status_code == 400
    assert "no_such_filter" in answer.content.decode()
    is_paged = "page_size" in described()[f"/api/v1/{path}"]
    for wrong in ("0", "x", "-1"):
        assert api(path, page_size=wrong).status_code == 400
    answer = api(path, page_size="1")
    if not is_paged:
        assert answer.status_code == 400
        return
    assert answer.status_code == 200
    rows = answer.json()
    assert len(rows["results"] if isinstance(rows, dict) else rows) <= 1


# What a row shows and no filter finds it by: worked out from dates and other rows.
WORKED_OUT = {("allowed-differences/", "state"), ("board/", "model"), ("chain-runs/", "state"),
              ("staff-certificates/", "state")}


@pytest.mark.parametrize("path", LISTS)
def test_lists_of_rows_have_the_common_filters(path):
    """What a row shows, it is found by, under one name in all lists; older names are deprecated."""
    filters, row = described()[f"/api/v1/{path}"], row_of(path)
    if "page_size" in filters and row:
        shown = {"engagement", "model", "stage", "state"} & set(row)
        assert {(path, name) for name in shown - set(filters)} <= WORKED_OUT
        for name in ("created", "changed"):
            assert (f"{name}_after" in filters) == (f"{name}_before" in filters)
        assert {"created_after", "ordering"} <= set(filters) or not (
            {"created_at"} & set(row) and "ordering" in filters)
    assert {name for name in filters if name.endswith(("__engagement", "__code", "__model"))
            and not filters[name].get("deprecated")} == set()


def test_most_lists_have_ranges_and_an_order():
    paged = [filters for path in LISTS if "page_size" in (
        filters := described()[f"/api/v1/{path}"])]
    count = {name: sum(name in filters for filters in paged)
             for name in ("ordering", "created_after", "changed_after", "engagement")}
    assert count["ordering"] > 80
    assert count["created_after"] > 50
    assert count["changed_after"] > 70
    assert count["engagement"] > 50


def row_of(path: str) -> dict | None:
    """Properties of a row of the list, as the committed description has them."""
    answer = document()["paths"][f"/api/v1/{path}"]["get"]["responses"].get("200", {})
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    schema = resolved(schema)
    rows = schema.get("properties", {}).get("results", schema)
    return resolved(rows["items"]).get("properties") if "items" in rows else None


def resolved(schema: dict) -> dict:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document()["components"]["schemas"][name] if name else schema


@pytest.mark.parametrize("path", LISTS)
def test_every_described_filter_is_known(api, path):
    """What the description offers is never refused as a filter that does not exist."""
    for name in set(described()[f"/api/v1/{path}"]) - {"page_size", "page", "after"}:
        assert "There is no filter" not in api(path, **{name: "1"}).content.decode()
