"""One box finds what the own lists hold: engagements, models, jobs, quotes, documents, nodes."""

import pytest
from django.utils.translation import override

from delivery.documents.models import CompanyProfile
from delivery.portal.search import global_search
from delivery.portal.search.commands import commands_for
from delivery.quotes.services import create_quote
from delivery.reports.models import Document
from engagements import search_index, services
from engagements.models import Customer, Engagement, Role
from engagements.queries import filtered
from engagements.stages import Stage, StageState
from engagements.web.paging import page_of
from tests.cached_fixtures import cached_fixture
from workers.models import Job, Node


@pytest.fixture
@cached_fixture
def world(people, engagement):
    """One of each, in an engagement of which everybody is a member."""
    CompanyProfile.objects.create(name="x")
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                               name="巡检报告生成大模型", name_en="Inspection report model")
    node = Node.objects.create(name="bms-07", host="10.0.0.7", username="x", state="ready",
                               cards_total=8)
    Job.objects.create(kind="env.npu_info", engagement=engagement, model=model, node=node)
    create_quote(actor=people[Role.SALES], engagement=engagement)
    Document.objects.create(engagement=engagement, kind="TR", created_by=people[Role.MANAGER])
    return engagement


def found(user, text) -> dict[str, list[str]]:
    return {str(sort.icon): [hit.title for hit in hits]
            for sort, hits in global_search.search(user, text)}


def test_a_word_of_the_engagement_finds_everything_in_it(people, world):
    assert set(found(people[Role.MANAGER], "ep2501")) == {
        "briefcase", "cpu", "file-certificate", "file-invoice", "terminal-2"}


@pytest.mark.parametrize(("text", "icons"), [
    ("大模型 EP2501", {"cpu", "terminal-2"}), ("inspection model", {"cpu", "terminal-2"}),
    ("bms-07 npu_info", {"terminal-2"}), ("10.0.0.7", {"server-2"}), ("QT-EP", {"file-invoice"})])
def test_every_word_has_to_fit(people, world, text, icons):
    assert set(found(people[Role.MANAGER], text)) == icons
    assert found(people[Role.MANAGER], f"{text} zebra") == {}


def test_a_name_without_a_letter_is_stored_and_found_by_nothing(people, world):
    Customer.objects.filter(pk=world.customer_id).update(name="——", name_en="")
    assert Customer.objects.get(pk=world.customer_id).name == "——"
    assert found(people[Role.MANAGER], "——") == {}


@pytest.mark.parametrize("text", ["p25", "2501", "报告", "告生成大", "pection"])
def test_parts_of_words_are_found(people, world, text):
    assert "cpu" in found(people[Role.MANAGER], text)


def test_a_new_name_is_found_by_all_that_bears_it(people, world):
    Customer.objects.filter(pk=world.customer_id).update(name="新名电力")
    assert {"briefcase", "file-certificate", "file-invoice"} <= set(
        found(people[Role.MANAGER], "新名"))
    assert list(search_index.differences()) == []


def test_a_number_is_a_job(people, world):
    job = Job.objects.get()
    [title] = found(people[Role.CONSULTANT], f"#{job.pk}")["terminal-2"]
    assert title.startswith(f"#{job.pk} ")
    assert "terminal-2" not in found(people[Role.CONSULTANT], f"#{job.pk + 1}")


def test_a_title_of_a_kind_finds_its_jobs_and_documents(client, people, world):
    client.force_login(people[Role.MANAGER])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    page = client.get("/search/", {"q": "test report"}).content.decode()
    assert f"/documents/{Document.objects.get().pk}/" in page


def test_a_model_leads_to_the_stage_it_stands_in(people, world):
    [hit] = [hits[0] for sort, hits in global_search.search(people[Role.MANAGER], "LLM")
             if sort.icon == "cpu"]
    assert hit.url == f"/engagements/EP2501/models/LLM/{Stage.SURVEY}/"
    world.models.get().stages.filter(stage=Stage.SURVEY).update(state=StageState.SKIPPED)
    [hit] = [hits[0] for sort, hits in global_search.search(people[Role.MANAGER], "LLM")
             if sort.icon == "cpu"]
    assert hit.url == f"/engagements/EP2501/models/LLM/{Stage.DESIGN}/"


def test_strangers_find_nothing_and_customers_only_what_was_issued(people, stranger, world):
    assert found(stranger, "EP2501") == {}
    assert set(found(people[Role.REVIEWER], "EP2501")) == {"briefcase", "cpu", "terminal-2"}
    assert found(people[Role.REVIEWER], "bms-07") == {"terminal-2": found(
        people[Role.MANAGER], "bms-07")["terminal-2"]}


def test_the_box_gets_hits_alone_and_the_page_the_same_hits(client, people, world):
    client.force_login(people[Role.MANAGER])
    hits = client.get("/search/", {"q": "LLM"}, headers={"HX-Request": "true"}).content.decode()
    page = client.get("/search/", {"q": "LLM"}).content.decode()
    assert "<html" not in hits
    assert hits.strip() in page


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(people, world, django_assert_num_queries, count):
    for n in range(count):
        services.add_model(actor=people[Role.MANAGER], engagement=world, code=f"M{n}", name="x")
        Job.objects.create(kind="env.npu_info", engagement=world)
        Engagement.objects.create(code=f"EP2501-{n}", name="x", customer=Customer.objects.get())
    with django_assert_num_queries(19):
        global_search.search(people[Role.MANAGER], "EP2501")


@pytest.mark.slow
def test_commands_lead_to_what_the_role_may_do(client, people, world):
    with override("en"):
        def labels(role, text):
            return [hit.title for hit in commands_for(people[role], text)]

        assert labels(Role.MANAGER, "create") == ["Create an engagement"]
        assert labels(Role.ADMINISTRATOR, "create user") == ["Create a user account"]
        assert labels(Role.MANAGER, "ep2501 assign") == ["Assign people"]
        assert labels(Role.CONSULTANT, "run EP2501 llm") == ["Run a job: LLM"]
        assert labels(Role.REVIEWER, "run ep2501") == labels(Role.SALES, "run ep2501") == []
        assert labels(Role.MANAGER, "") == labels(Role.MANAGER, "ep2501") == []
        for role, text in ((Role.MANAGER, "go"), (Role.MANAGER, "go EP2501"),
                           (Role.CONSULTANT, "run EP2501")):
            client.force_login(people[role])
            for hit in commands_for(people[role], text):
                assert client.get(hit.url).status_code == 200, hit.url


def test_commands_of_an_engagement_are_for_who_sees_it(people, stranger, world):
    with override("en"):
        assert commands_for(stranger, "assign EP2501") == []


def test_a_list_of_many_hits_is_that_of_few(people, engagement, monkeypatch):
    """Beyond MOST_NAMED hits a subquery takes the place of their keys."""
    for n in range(7):
        services.create_engagement(actor=people[Role.MANAGER], code=f"Z{n}", name="zebra 斑马",
                                   customer=engagement.customer)
    services.add_member(actor=people[Role.MANAGER], user=people[Role.CONSULTANT],
                        engagement=Engagement.objects.get(code="Z3"))

    def shown(text: str) -> list:
        pages = [page_of(filtered(Engagement.objects.visible_to(people[role]), {"q": text}),
                         {"page": number}, 3) for role in (Role.MANAGER, Role.CONSULTANT)
                 for number in ("1", "9")]
        return [([row.code for row in page], page.paginator.total) for page in pages]

    words = ("zebra", "斑马", "zeb", "zebra 斑马", "Z4", "nothing")
    few = {text: shown(text) for text in words}
    assert [total for _codes, total in few["斑马"]] == [7, 7, 1, 1]
    monkeypatch.setattr(search_index, "MOST_NAMED", 0)
    assert {text: shown(text) for text in words} == few
