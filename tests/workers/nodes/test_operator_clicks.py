"""Twelve questions of an operator over forty nodes, answered three clicks from home at most.

A click follows a link or sends a form that the page before shows; nobody types an address.
"""

import re
from datetime import timedelta
from html.parser import HTMLParser
from urllib.parse import urljoin

import pytest
from django.utils import timezone

from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.workers import fleet_world
from workers.models import Job, Node
from workers.services import node_calendar

pytestmark = pytest.mark.django_db
MOST = 3
NIGHT = {"from": "2025-11-03T18:00", "to": "2025-11-04T09:00"}
OCTOBER = {"from": "2025-10-01T00:00", "to": "2025-11-01T00:00"}


class Page(HTMLParser):
    """Links by what they read, forms that ask by their fields, and the text."""

    def __init__(self, html: str):
        super().__init__()
        self.links, self.forms, self.words, self.link = [], [], [], None
        self.feed(html)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        of = dict(attrs)
        if tag == "a" and "href" in of:
            self.link = [of["href"], ""]
            self.links.append(self.link)
        elif tag == "form" and of.get("method", "get") == "get":
            self.forms.append((of.get("action", ""), set()))
        elif tag in ("input", "select") and self.forms and "name" in of:
            self.forms[-1][1].add(of["name"])

    def handle_endtag(self, tag):
        if tag == "a":
            self.link = None

    def handle_data(self, data):
        self.words.append(data)
        if self.link:
            self.link[1] += data

    def leads_to(self, words: str) -> str:
        return next(url for url, text in self.links if " ".join(text.split()) == words)

    def form_with(self, names) -> str:
        return next(url for url, fields in self.forms if fields >= set(names))


class Operator:
    """Somebody new at home, who clicks on."""

    def __init__(self, client):
        self.client, self.clicks, self.url = client, 0, "/"
        self.page = self._seen("/")

    def _seen(self, url: str, asked=None) -> Page:
        answer = self.client.get(url, asked)
        assert answer.status_code == 200, url
        self.url = answer.wsgi_request.path
        return Page(answer.content.decode())

    def click(self, step) -> None:
        """A link by its words, or the fields of a form that are filled before it is sent."""
        self.clicks += 1
        if isinstance(step, str):
            self.page = self._seen(urljoin(self.url, self.page.leads_to(step)))
        else:
            self.page = self._seen(self.page.form_with(step) or self.url, step)


@pytest.fixture
@cached_fixture
def fleet(people, engagement):
    world = fleet_world.build(people, engagement)
    Job.objects.filter(pk=world["mine"].pk).update(folder_kb=5_000_000)
    return world


@pytest.fixture
def maintained(fleet, people):
    now = timezone.now()
    node_calendar.reserve(actor=people[Role.OPERATOR], node=Node.objects.get(name="npu-01"),
                          starts_at=now, ends_at=now + timedelta(hours=3), reason="换卡",
                          stops_jobs_at=now + timedelta(hours=1))
    return timezone.localtime(now + timedelta(hours=1))


def ask(client, people, *steps) -> str:
    """What the last page says."""
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people[Role.OPERATOR])
    operator = Operator(client)
    for step in steps:
        operator.click(step)
    assert operator.clicks <= MOST
    return operator.page.text


def row_of(text: str, name: str) -> str:
    """What the fleet says of a node."""
    return re.split(r"npu-\d\d", text.partition(f"{name} ")[2])[0]


def test_1_which_node_is_sick(fleet, client, people):
    text = ask(client, people)
    assert "4 nodes in trouble" in text
    assert [text.index(name) for name in ("npu-07", "npu-11", "npu-12", "npu-16")] == sorted(
        text.index(name) for name in ("npu-07", "npu-11", "npu-12", "npu-16"))
    assert "Card 3: Temperature: 97 °C" in row_of(text, "npu-07")


@pytest.mark.slow
def test_2_who_waits_for_whom_and_why(fleet, client, people):
    text = ask(client, people, "Nodes", "Queue", f"#{fleet['waits'].pk} Chip status")
    assert "It wants 4 of 8 healthy cards, of which 0 are free." in text
    assert f"Held: 2 (#{fleet['mine'].pk}), 6 (another project)." in text


def test_3_who_used_card_3_last_night(fleet, client, people):
    text = ask(client, people, "Nodes", "Use of cards", {**NIGHT, "node": "npu-03", "card": "3"})
    leases = text.partition("Leases")[2]
    assert f"npu-03 3 #{fleet['last_night'].pk} Host probe EP2501 Consultant 2025-11-03 23:00" in (
        leases)
    assert leases.count("npu-03") == 1


def test_4_which_nodes_differ_in_cann(fleet, client, people):
    text = ask(client, people, "Nodes")
    differing = {node.name for node in Node.objects.all()
                 if node.software["cann"] != fleet_world.VERSIONS["cann"]}
    assert {node.name for node in Node.objects.all()
            if re.search(r"CANN \S+ ≠", row_of(text, node.name))} == differing == {"npu-18"}


def test_5_what_fills_the_disk(fleet, client, people):
    Job.objects.filter(pk=fleet["mine"].pk).update(node=Node.objects.get(name="npu-16"))
    text = ask(client, people, "npu-16", "Disk")
    assert "EP2501" in text
    assert "The disk is full." in text


@pytest.mark.slow
def test_6_utilisation_in_october_by_project(fleet, client, people):
    text = ask(client, people, "Nodes", "Use of cards", {**OCTOBER, "by": "project"})
    assert "EP2501 20.0 5.0 5.0 10.0 another project 8.0 0.0 0.0 8.0" in text


def test_7_which_free_cards_cannot_be_used_and_why(fleet, client, people):
    text = ask(client, people)
    assert "320 cards: 8 held, 259 free to use" in text
    assert re.search(r"free but of no use: .*8 \(Disk full\)", text)


@pytest.mark.slow
def test_8_whose_jobs_a_maintenance_touches(maintained, fleet, client, people):
    text = ask(client, people, "Nodes", "npu-01")
    assert f"Jobs that still run at {maintained:%Y-%m-%d %H:%M} are stopped." in text
    queue = text.partition("Queue")[2]
    assert f"#{fleet['mine'].pk} " in queue
    assert f"ends about {maintained:%Y-%m-%d %H}" in queue


@pytest.mark.slow
def test_9_when_does_the_job_start(fleet, client, people):
    text = ask(client, people, "Nodes", "Queue")
    end = timezone.localtime(fleet["theirs"].started_at + timedelta(hours=2, seconds=59))
    assert text.index("npu-01") < text.index("npu-02")  # where somebody waits stands first
    assert f"starts about {end:%Y-%m-%d %H:%M}" in text


@pytest.mark.slow
def test_10_what_share_each_project_holds(fleet, client, people):
    text = ask(client, people, "Nodes", "Queue")
    assert "another project 6 75 %" in text
    assert "EP2501 2 25 %" in text


def test_11_which_node_does_not_answer_and_since_when(fleet, client, people):
    text = ask(client, people, "npu-11")
    assert re.search("The node has not answered for 1 hour[.,]", text)


@pytest.mark.slow
def test_12_who_runs_on_a_node_until_when(fleet, client, people):
    text = ask(client, people, "Nodes", "npu-01")
    end = f"{timezone.localtime(fleet['mine'].started_at + timedelta(hours=2)):%Y-%m-%d %H:%M}"
    queue = text.partition("All nodes")[2]
    assert f"#{fleet['mine'].pk} Chip status EP2501 0, 1 ends about {end}" in queue
    assert f"of another engagement -- 2, 3, 4, 5, 6, 7 ends about {end}" in queue


@pytest.mark.slow
def test_no_answer_names_what_the_operator_may_not_know(fleet, client, people):
    for steps in ((), ("Nodes",), ("Nodes", "Queue"), ("Nodes", "Use of cards", OCTOBER)):
        assert "EP-OTHER" not in ask(client, people, *steps)


@pytest.mark.slow
def test_nodes_of_a_label_are_a_group(fleet, client, people):
    Node.objects.filter(name__in=["npu-21", "npu-22"]).update(labels="机房 B, 910B")
    text = ask(client, people, "Nodes", "机房 B")
    assert re.findall(r"(npu-\d\d) \S", text) == ["npu-21", "npu-22"]
    ask(client, people, "Nodes", "机房 B", "Change several nodes")
    page = client.get("/nodes/bulk/", {"label": "机房 B"})
    assert [form["nodes"].initial for form in page.context["forms"].values()] == [
        list(Node.objects.filter(labels__contains="机房 B").values_list("pk", flat=True))] * 3
