"""Every list of the API: filters that do not exist and sizes of pages, as its description says."""

from functools import cache
from io import StringIO
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
def described() -> dict[str, dict]:
    """Query parameters of every GET, by path and name, as the committed description has them."""
    schema = yaml.safe_load(StringIO(
        (Path(settings.BASE_DIR) / "docs" / "openapi.yaml").read_text()))
    return {path: {parameter["name"]: parameter for parameter in
                   operations.get("get", {}).get("parameters", []) if parameter["in"] == "query"}
            for path, operations in schema["paths"].items()}


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
def test_a_filter_that_does_not_exist_is_refused(api, path):
    answer = api(path, no_such_filter="1")
    assert answer.status_code == 400
    assert "no_such_filter" in answer.content.decode()


@pytest.mark.parametrize("path", LISTS)
def test_sizes_of_pages_are_those_described(api, path):
    """A list in pages gives as many rows as asked for; another refuses to be asked."""
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


@pytest.mark.parametrize("path", LISTS)
def test_every_described_filter_is_known(api, path):
    """What the description offers is never refused as a filter that does not exist."""
    for name in set(described()[f"/api/v1/{path}"]) - {"page_size", "page", "after"}:
        assert "There is no filter" not in api(path, **{name: "1"}).content.decode()
