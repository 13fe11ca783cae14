"""Every list page asks the database as often for three rows as for one."""

from datetime import date

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assessments.models import HumanEvaluation
from delivery.documents.models import CompanyProfile
from delivery.knowledge.services.cases import add_case
from delivery.planning.services import changes, control, time_entries
from delivery.quotes.services import create_quote
from delivery.reports.models import Document
from engagements import services
from engagements.audit import audit_log
from engagements.models import Customer, Engagement, Role, User
from workers.artifacts.artifact_store import store_file
from workers.models import Job, Node

PAGES = ("/", "/portfolio/", "/audit/", "/search/?q=EP25", "/engagements/EP2501/",
         "/engagements/EP2501/team/", "/board/", "/jobs/", "/jobs/queue/", "/nodes/", "/customers/",
         "/people/", "/quotes/", "/engagements/EP2501/quotes/", "/documents/",
         "/engagements/EP2501/documents/", "/engagements/EP2501/changes/",
         "/engagements/EP2501/control/", "/engagements/EP2501/time/", "/notices/",
         "/engagements/EP2501/models/M0/survey/", "/cases/", "/figures/",
         "/engagements/EP2501/human-evaluations/")


def one_more(people, engagement, number: int) -> None:
    """One more row for every list."""
    from django.core.files.base import ContentFile

    manager = people[Role.MANAGER]
    common = {"actor": manager, "engagement": engagement}
    model = services.add_model(code=f"M{number}", name="x", **common)
    customer = Customer.objects.create(name=f"c{number}")
    Engagement.objects.create(code=f"EP25-{number}", name="x", customer=customer)
    person = User.objects.create_user(f"p{number}", role=Role.CONSULTANT)
    services.add_member(user=person, **common)
    node = Node.objects.create(name=f"n{number}", host="127.0.0.1", username="x", state="ready",
                               cards_total=8)
    first = engagement.models.get(code="M0")
    for state in ("queued", "running"):
        Job.objects.create(kind="env.npu_info", engagement=engagement, model=first, node=node,
                           stage="survey", state=state, created_by=person)
    create_quote(actor=people[Role.SALES], engagement=engagement)
    Document.objects.create(engagement=engagement, kind="TR", created_by=person,
                            number=f"TR-{number}", state="issued", issued_at=timezone.now())
    file = store_file(stream=ContentFile(b"x"), name=f"{number}.txt", engagement=engagement)
    evaluation = HumanEvaluation.objects.create(model=first, name="x", baseline_file=file,
                                                candidate_file=file, seed=1, recorded_by=person)
    evaluation.ratings.create(rater="x", artifact=file, imported_by=person)
    changes.create_change(title="c", category="scope", requested_by="x", reason="x", before="x",
                          after="x", **common)
    control.add_risk(title="r", probability=1, impact=1, owner=person,
                     review_on=date(2025, 7, 1), **common)
    time_entries.record_time(work_date=date(2025, 7, 1 + number), half="am", item="env",
                             grade="engineer", model=model, **common)
    failed = Job.objects.create(kind="env.npu_info", engagement=engagement, node=node,
                                state="failed", finished_at=timezone.now())
    add_case(actor=manager, title="x", cause="x", cure="x", error_code="EI0002", job=failed)
    audit_log.record(actor=person, action="stage.submit", target=first.stages.first(),
                     engagement=engagement)


@pytest.mark.django_db
def test_queries_do_not_grow(client, people, engagement):
    CompanyProfile.objects.create(name="x")
    client.force_login(people[Role.ADMINISTRATOR])
    one_more(people, engagement, 0)
    few = {page: queries(client, page) for page in PAGES}
    for number in (1, 2):
        one_more(people, engagement, number)
    many = {page: queries(client, page) for page in PAGES}
    assert {page: (few[page], many[page]) for page in PAGES if many[page] > few[page]} == {}


def queries(client, page: str) -> int:
    client.get(page)  # what is remembered between requests is there
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(page)
    assert answer.status_code == 200, page
    return len(asked)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["document-texts", "document-chains"])
def test_settings_of_documents_are_one_query(client, people, path, django_assert_max_num_queries):
    """Whatever the number of texts and kinds; the others are of the session and its person."""
    client.force_login(people[Role.ADMINISTRATOR])
    client.get(f"/api/v1/{path}/")
    with django_assert_max_num_queries(4):
        rows = client.get(f"/api/v1/{path}/").json()
    assert len(rows) > 5


@pytest.mark.django_db
def test_the_customers_list_of_engagements_does_not_grow_with_its_rows(client, people, engagement):
    reviewer = people[Role.REVIEWER]
    client.force_login(reviewer)
    few = queries(client, "/engagements/")
    for number in range(3):
        added = Engagement.objects.create(code=f"EP26-{number}", name="x",
                                          customer=engagement.customer)
        services.add_member(actor=people[Role.ADMINISTRATOR], engagement=added, user=reviewer)
    assert queries(client, "/engagements/") == few
    assert client.get("/engagements/").content.decode().count("EP26-") >= 3
