"""A published baseline is marked wherever it is compared with; its sheet has a hash of its own."""

from django.urls import reverse

from assessments.models import Baseline
from assessments.services.confirmations import baseline_facts, baseline_hash
from engagements.models import Role
from tests.delivery.conftest import api_client


def test_a_published_baseline_is_marked_on_every_page_and_a_measured_one_is_not(
        criterion, people, client):
    client.force_login(people[Role.CONSULTANT])
    pages = [reverse("assessments:baseline", args=[criterion.baseline.pk]),
             reverse("assessments:criteria", args=["EP2501"]),
             reverse("assessments:criterion", args=[criterion.pk])]
    words = str(Baseline.Origin.PUBLISHED.label)

    def marked():
        return [words in client.get(page).content.decode() for page in pages]

    assert (criterion.baseline.origin, marked()) == ("measured", [False] * 3)
    Baseline.objects.filter(pk=criterion.baseline.pk).update(origin=Baseline.Origin.PUBLISHED)
    assert marked() == [True] * 3


def test_sheets_confirmed_before_origins_were_recorded_keep_their_hash(baseline):
    measured = baseline_hash(baseline)
    baseline.origin = Baseline.Origin.PUBLISHED
    assert baseline_hash(baseline) != measured
    baseline.origin = ""
    assert "origin" not in baseline_facts(baseline)


def test_the_api_records_the_origin(people, model, criterion):
    sent = {"model": model.pk, "quantity": "loss_curve", "origin": "published",
            "artifact": criterion.baseline.artifact.pk}
    api = api_client(people[Role.CONSULTANT])
    made = api.post("/api/v1/baselines/", sent, format="json")
    assert (made.status_code, made.json()["origin"]) == (201, "published")
    refused = api.post("/api/v1/baselines/", {**sent, "origin": ""}, format="json")
    assert (refused.status_code, "measured or published" in str(refused.json())) == (400, True)
