"""Documents are written, reviewed and approved by three people, or by the firm's two."""

import pytest
from django.utils.translation import override

from assessments.models import Verdict
from delivery.reports import services
from delivery.reports.approvals.document_duties import sole_tester
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Role, User
from engagements.services import set_people
from tests.cached_fixtures import cached_fixture
from tests.document_steps import reviewed_document
from workers.models import Artifact, Job


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr("delivery.reports.rendering.render_document",
                        lambda *a, **k: b"%PDF-1.7 short")


@pytest.fixture
@cached_fixture
def draft(delivered, people):
    return services.draft_document(actor=people[Role.MANAGER], engagement=delivered, kind="PL")


def test_an_author_never_approves_even_what_another_submitted(draft, people):
    services.submit_document(actor=people[Role.ADMINISTRATOR], document=draft)
    services.review_document(actor=people[Role.CONSULTANT], document=draft)
    for author in (Role.MANAGER, Role.ADMINISTRATOR):
        with pytest.raises(NotAllowed):
            services.order_issue(actor=people[author], document=draft)


def test_of_two_people_the_reviewer_approves_where_the_firm_says_so(draft, people):
    admin = people[Role.ADMINISTRATOR]
    services.submit_document(actor=people[Role.MANAGER], document=draft)
    services.review_document(actor=admin, document=draft)
    with pytest.raises(NotAllowed):
        services.order_issue(actor=admin, document=draft)
    set_people(actor=admin, kind="document", people="reviewer_approves")
    with pytest.raises(NotAllowed):
        services.order_issue(actor=people[Role.MANAGER], document=draft)
    assert services.issue_document(actor=admin, document=draft).state == "issued"


def test_of_two_people_the_author_reviews_where_the_firm_says_so(draft, people):
    manager, admin = people[Role.MANAGER], people[Role.ADMINISTRATOR]
    set_people(actor=admin, kind="document", people="author_reviews")
    services.submit_document(actor=manager, document=draft)
    services.review_document(actor=manager, document=draft)
    with pytest.raises(NotAllowed):
        services.order_issue(actor=manager, document=draft)
    assert services.issue_document(actor=admin, document=draft).state == "issued"


def test_the_page_says_before_the_submission_who_is_missing(draft, people, client):
    def shown(user):
        client.force_login(user)
        page = client.get(f"/documents/{draft.pk}/", headers={"accept-language": "en"})
        return page.content.decode().count("Nobody here may do “Approved by”")

    def reported(user):
        client.force_login(user)
        answer = client.get(f"/api/v1/documents/{draft.pk}/missing-people/",
                            headers={"accept-language": "en"})
        return answer.json().get("missing_people", answer.status_code)

    manager = people[Role.MANAGER]
    assert (shown(manager), reported(manager), reported(people[Role.REVIEWER])) == (0, [], 404)
    User.objects.filter(role=Role.ADMINISTRATOR).update(is_active=False)
    assert shown(manager) == len(reported(manager)) == 1
    assert reported(manager)[0].startswith("Nobody here may do “Approved by”")
    reviewed_document(draft, people)
    assert shown(manager) == 1  # whoever waits for the approval reads it too
    client.force_login(manager)
    refused = client.post(f"/api/v1/documents/{draft.pk}/issue/")
    assert (refused.status_code, refused.json()["title"]) == (403, "not_allowed")


@pytest.fixture
def report(delivered, people):
    """A test report of what the consultant alone measured."""
    Job.objects.update(created_by=people[Role.CONSULTANT])
    return services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)


@pytest.mark.slow
def test_a_report_is_not_reviewed_by_the_one_who_alone_measured_it(report, people):
    manager, admin = people[Role.MANAGER], people[Role.ADMINISTRATOR]
    with override("en"), pytest.raises(InvalidInput, match=(
            r"Consultant alone measured what this report judges.*Add such a person to the team.*"
            r"Nobody here may do “(Reviewed|Approved) by”")) as refused:
        services.submit_document(actor=manager, document=report)
    assert refused.value.details["cures"] == ["/engagements/EP2501/team/"]
    colleague = User.objects.create_user("colleague", role=Role.CONSULTANT)
    report.engagement.memberships.create(user=colleague)
    services.submit_document(actor=manager, document=report)
    with override("en"), pytest.raises(NotAllowed, match=(
            r"Tester of .* is Consultant; Reviewer must be somebody else.*: colleague")):
        services.review_document(actor=people[Role.CONSULTANT], document=report)
    services.review_document(actor=colleague, document=report)
    assert services.order_issue(actor=admin, document=report).state == "issuing"


def test_where_several_measured_one_of_them_may_review(report, people):
    """Nobody alone answers for the figures; as nothing else, a sheet of criteria has no tester."""
    first = Verdict.objects.exclude(measurement=None).first()
    other = first.criterion.criteria_set.criteria.exclude(pk=first.criterion_id).first()
    stored = first.measurement
    stored.pk, stored.quantity, stored.job = None, "another", None
    stored.artifact.uploaded_by, stored.artifact.job = people[Role.OPERATOR], None
    Artifact.objects.filter(pk=stored.artifact_id).update(uploaded_by=people[Role.OPERATOR])
    stored.save()
    assert sole_tester(report) == people[Role.CONSULTANT].pk
    Verdict.objects.create(criterion=other, measurement=stored, outcome=first.outcome,
                           engine_version=first.engine_version, reason=first.reason)
    assert sole_tester(report) is None
    report.kind = "AC"
    assert sole_tester(report) is None
