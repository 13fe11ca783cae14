"""The check-list of deliverables: version, checksum, received by name (AR-13)."""

import pytest
from django.db import IntegrityError, transaction

from delivery.acceptance import services
from delivery.acceptance.models import Receipt
from delivery.acceptance.review.deliverables import deliverables_of
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.evidence.services import build_bundle
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture


@pytest.fixture
@cached_fixture
def bundle(review, people):
    return build_bundle(
        actor=people[Role.MANAGER], engagement=review.document.engagement,
        document=review.document)


@pytest.fixture
def items(review, bundle):
    return deliverables_of(review, "en")


def test_the_list_names_files_bundle_and_criteria_with_their_checksums(items, review):
    checksums = {item.sha256 for item in items}
    assert {f.sha256 for f in review.document.files.all() if f.format == "pdf"} <= checksums
    assert review.document.bundles.get().sha256 in checksums
    assert review.document.engagement.criteria_sets.get().content_hash in checksums
    assert len({item.key for item in items}) == len(items)


def test_a_named_person_confirms_each_once(items, review, people):
    keys = [item.key for item in items]
    for role in (Role.MANAGER, Role.CONSULTANT):
        with pytest.raises(NotAllowed):
            services.confirm_receipt(actor=people[role], review=review, keys=keys)
    services.confirm_receipt(actor=people[Role.REVIEWER], review=review, keys=keys[:1])
    for wrong, error in ((keys[:1], WrongState), (["file:x"], InvalidInput), ([], InvalidInput)):
        with pytest.raises(error):
            services.confirm_receipt(actor=people[Role.REVIEWER], review=review, keys=wrong)
    assert [item.is_received for item in deliverables_of(review, "en")] == [True] + [False] * (
        len(items) - 1)
    [row] = AuditEntry.objects.get(action="review.receipt").data["items"]
    assert row["sha256"] == items[0].sha256


def test_what_is_missing_is_said_and_received_later(items, review, people):
    reviewer, key = people[Role.REVIEWER], items[-1].key
    with pytest.raises(InvalidInput):
        services.confirm_receipt(actor=reviewer, review=review, keys=[key], is_complete=False)
    services.confirm_receipt(actor=reviewer, review=review, keys=[key], is_complete=False,
                             remark="打不开")
    assert not deliverables_of(review, "en")[-1].is_received
    services.confirm_receipt(actor=reviewer, review=review, keys=[key])
    assert deliverables_of(review, "en")[-1].is_received


def test_each_item_is_received_or_missing_with_its_own_remark(items, review, people, client):
    client.force_login(people[Role.REVIEWER])
    url, (first, second, third) = f"/documents/{review.document_id}/review/", items[:3]
    assert "checked" not in client.get(url).content.decode().split('id="deliverables"')[1].split(
        "</form>")[0]
    given = {"keys": [first.key], f"missing:{second.key}": "附录 B", f"missing:{third.key}": ""}
    refused = client.post(url + "receipt/", {**given, f"missing:{first.key}": "打不开"})
    assert (refused.status_code, Receipt.objects.count()) == (400, 0)
    assert 'value="附录 B"' in refused.content.decode()  # what was typed is still there
    client.post(url + "receipt/", given)
    assert [(row.key, row.is_complete, row.remark) for row in Receipt.objects.order_by("pk")] == [
        (first.key, True, ""), (second.key, False, "附录 B")]


def test_a_signed_copy_prints_them(items, review, people, act):
    services.confirm_receipt(actor=people[Role.REVIEWER], review=review,
                             keys=[items[0].key])
    act.decide(review)
    [row] = signed_facts(review)["receipts"]
    assert (row["sha256"], row["who"]["en"]) == (items[0].sha256, str(people[Role.REVIEWER]))


def test_the_database_keeps_one_receipt(items, review, people):
    [made] = services.confirm_receipt(actor=people[Role.REVIEWER], review=review,
                                      keys=[items[0].key])
    made.pk = None
    with pytest.raises(IntegrityError, match=r"received_once|review_id"), transaction.atomic():
        made.save()


def test_page(items, review, people, client):
    client.force_login(people[Role.REVIEWER])
    url = f"/documents/{review.document_id}/review/receipt/"
    client.post(url, {"keys": [item.key for item in items], "complete": "yes"})
    assert Receipt.objects.count() == len(items)
    client.force_login(people[Role.CONSULTANT])
    client.post(url, {"keys": [items[0].key], "complete": "yes"})
    assert Receipt.objects.count() == len(items)
