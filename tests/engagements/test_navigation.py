"""Every page of an engagement has its six groups of tabs and says whose page it is."""

import pytest
from django.urls import reverse

from engagements.models import Role
from engagements.navigation import GROUPS


@pytest.mark.parametrize(("route", "arguments", "open_tab"), [
    ("engagements:engagement", (), "/engagements/EP2501/"),
    ("engagements:stage", ("LLM", "env"), "/engagements/EP2501/"),
    ("planning:changes", (), "/engagements/EP2501/changes/")])
def test_groups_of_tabs(client, people, model, route, arguments, open_tab):
    client.force_login(people[Role.MANAGER])
    engagement = model.engagement
    args = [engagement.code, *[model.code if a == "LLM" else a for a in arguments]]
    page = client.get(reverse(route, args=args), headers={"accept-language": "en"})
    text = page.content.decode()
    assert f"{engagement.code} · " in text.split('class="page-pretitle"')[1].split("</div>")[0]
    tabs = text.split('aria-label="Pages of the engagement"')[1].split("</nav>")[0]
    assert tabs.count('class="nav-link') == len(GROUPS) + (5 if "changes" in route else 0)
    assert 'aria-current="page"' in tabs
    current = tabs.split('aria-current="page"')[0].rsplit('href="', 1)[1].split('"')[0]
    assert current == open_tab.replace("EP2501", engagement.code)


def test_the_customer_has_no_internal_tabs(client, people, model):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("engagements:engagement", args=[model.engagement.code]))
    assert reverse("planning:effort", args=[model.engagement.code]) not in page.content.decode()
