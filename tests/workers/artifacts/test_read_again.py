"""A stored file read with a newer reader: both results stay, and the audit log knows."""

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse
from rest_framework.test import APIClient

from engagements.errors import NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from toolreaders.training.csv_log import CsvLogReader
from workers import services
from workers.artifacts.artifact_store import read_artifacts, remembered, store_file
from workers.models import Artifact, ReadingRequest

pytestmark = pytest.mark.django_db
LOG = b"step,loss\n1,3.5\n2,3.25\n3,3.0\n"


@pytest.fixture
def artifact(engagement, monkeypatch):
    artifact = store_file(stream=ContentFile(LOG), name="loss.csv", engagement=engagement)
    with monkeypatch.context() as older:
        older.setattr(CsvLogReader, "version", "0")
        remembered.clear()
        read_artifacts([artifact])
    remembered.clear()  # the process of a newer version remembers nothing of the older one
    return artifact


def versions(artifact):
    return [reading.reader_version for reading in artifact.readings.all()]


def test_both_results_stay(people, artifact):
    services.read_again(actor=people[Role.CONSULTANT], artifact=artifact)
    assert versions(artifact) == [CsvLogReader.version, "0"]
    services.read_again(actor=people[Role.CONSULTANT], artifact=artifact)
    entries = AuditEntry.objects.filter(action="artifact.read_again").order_by("pk")
    assert [(entry.actor, entry.target_id, entry.data) for entry in entries] == [
        (people[Role.CONSULTANT], str(artifact.pk), {"new_readings": new}) for new in (1, 0)]


def test_a_changed_file_is_not_read(people, artifact):
    Artifact.objects.filter(pk=artifact.pk).update(sha256="0" * 64)
    services.read_again(actor=people[Role.CONSULTANT], artifact=artifact)
    asked = ReadingRequest.objects.get(artifact=artifact)
    assert (asked.state, asked.refusal_code) == ("refused", "file_changed")
    assert versions(artifact) == ["0"]


@pytest.mark.workers_read
def test_a_file_that_is_being_read_is_not_asked_for_again(people, artifact):
    services.read_again(actor=people[Role.CONSULTANT], artifact=artifact)
    with pytest.raises(WrongState):
        services.read_again(actor=people[Role.CONSULTANT], artifact=artifact)


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.SALES])
def test_who_may_not(people, artifact, role):
    with pytest.raises(NotAllowed):
        services.read_again(actor=people[role], artifact=artifact)


def test_page_and_api(client, people, artifact):
    client.force_login(people[Role.CONSULTANT])
    page = reverse("workers:artifact", args=[artifact.pk])
    again = reverse("workers:artifact_read_again", args=[artifact.pk])
    assert again in client.get(page).content.decode()
    assert client.get(again).status_code == 405
    assert client.post(again, follow=True).redirect_chain == [(page, 302)]
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    answer = api.post(f"/api/v1/artifacts/{artifact.pk}/read-again/")
    assert {reading["reader_version"] for reading in answer.data["readings"]} == {
        "0", CsvLogReader.version}


def test_who_may_not_read_again_sees_no_button(client, people, artifact):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("workers:artifact", args=[artifact.pk])).content.decode()
    assert "read-again" not in page


def test_a_note_names_the_file_and_not_where_it_lies(artifact, monkeypatch):
    def fail(self, source):
        raise ValueError(f"cut off: {source.path}")

    monkeypatch.setattr(CsvLogReader, "read", fail)
    assert read_artifacts([artifact]) == {}
    artifact.refresh_from_db()
    assert "cut off: loss.csv" in artifact.note
    assert str(artifact.file.path) not in artifact.note
