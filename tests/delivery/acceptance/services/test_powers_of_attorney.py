"""Powers of attorney: recorded with a scan, asked for by the contract, cited by the signature."""

from datetime import date, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.models import PowerOfAttorney
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.evidence.verification.audit_verification import verify_audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from tests.delivery.review_steps import SHORT


def scan() -> SimpleUploadedFile:
    return SimpleUploadedFile("授权书.pdf", SHORT)


@pytest.fixture
def grant(engagement, people):
    def give(**given):
        return services.record_power_of_attorney(**{
            "actor": people[Role.MANAGER], "engagement": engagement,
            "user": people[Role.REVIEWER], "capacity": "信息中心主任",
            "granted_by": "法定代表人 王建国",
            "valid_from": date(2025, 1, 1), "file": scan(), **given})

    return give


def test_only_a_manager_records_one_and_only_for_a_reviewer(grant, people):
    for role in (Role.CONSULTANT, Role.SALES, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            grant(actor=people[role])
    for wrong in ({"user": people[Role.CONSULTANT]}, {"capacity": " "}, {"granted_by": ""},
                  {"valid_until": date(2024, 12, 31)},
                  {"file": SimpleUploadedFile("x.pdf", b"MZ no scan")}, {"file": None}):
        with pytest.raises(InvalidInput):
            grant(**wrong)
    assert not PowerOfAttorney.objects.exists()


def test_the_signature_cites_it_with_its_capacity_and_checksum(grant, review, act):
    power = grant(capacity="信息中心主任")
    act.decide(review)
    signature = act.sign(review)  # typed another capacity
    assert (signature.power, signature.capacity) == (power, "信息中心主任")
    [facts] = signed_facts(review)["signatures"]
    assert facts["power"] == {
        "granted_by": "法定代表人 王建国", "valid_from": "2025-01-01", "valid_until": "",
        "file": power.file_name, "sha256": power.sha256}
    assert AuditEntry.objects.get(action="document.sign").data["power"] == power.sha256


@pytest.mark.slow
def test_a_power_exchanged_behind_the_back_is_found(grant, review, act):
    grant()
    act.decide(review)
    act.sign_and_seal(review)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE acceptance_signature SET power_id = NULL")
    wrong = [step.text for step in verify_audit_log([]) if not step.is_good]
    assert any("Reviewer" in text for text in wrong), wrong



@pytest.mark.slow
def test_where_the_contract_asks_for_one_nobody_signs_without(delivered, act, people, grant):
    services.set_terms(actor=people[Role.MANAGER], engagement=delivered, needs_power=True)
    review = act.open(delivered)
    act.decide(review)
    with pytest.raises(WrongState):
        act.begin(review)
    grant()
    assert act.sign(review).power


@pytest.mark.parametrize("given", [
    {"valid_until": timezone.localdate() - timedelta(days=1)},
    {"valid_from": timezone.localdate() + timedelta(days=1)}])
def test_an_authority_that_does_not_hold_today_signs_nothing(grant, review, act, given):
    grant(**given)
    act.decide(review)
    with pytest.raises(WrongState):
        act.begin(review)


def test_one_that_ended_between_code_and_signature_signs_nothing(grant, review, act, people):
    power = grant()
    act.decide(review)
    code = act.begin(review)
    with pytest.raises(InvalidInput):
        services.end_power_of_attorney(actor=people[Role.MANAGER], power=power, reason=" ")
    services.end_power_of_attorney(actor=people[Role.MANAGER], power=power, reason="离职")
    with pytest.raises(WrongState):
        act.sign(review, code=code)
    with pytest.raises(WrongState):
        services.end_power_of_attorney(actor=people[Role.MANAGER], power=power, reason="again")


def test_pages_and_scan(client, grant, people, stranger):
    power = grant()
    for user, seen, ended in ((people[Role.REVIEWER], 200, 302), (stranger, 404, 404)):
        client.force_login(user)
        answers = [client.get("/engagements/EP2501/powers-of-attorney/").status_code,
                   client.get(f"/powers-of-attorney/{power.pk}/file/").status_code]
        assert answers == [seen, seen]
        assert client.post(f"/powers-of-attorney/{power.pk}/end/", {"reason": "x"}
                           ).status_code == ended
    power.refresh_from_db()
    assert power.ended_at is None
    client.force_login(people[Role.MANAGER])
    made = client.post("/engagements/EP2501/powers-of-attorney/", {
        "user": people[Role.REVIEWER].pk, "capacity": "主任", "granted_by": "王建国",
        "valid_from": "2025-01-01", "file": scan()})
    assert (made.status_code, PowerOfAttorney.objects.count()) == (302, 2)
    client.post(f"/powers-of-attorney/{power.pk}/end/", {"reason": "换人"})
    power.refresh_from_db()
    assert power.end_reason == "换人"
