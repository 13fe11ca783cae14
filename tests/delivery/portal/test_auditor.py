"""The auditor: reads the log and what left the firm, writes nothing, and not after the last day."""

import json
from datetime import timedelta

import pytest
from django.apps import apps
from django.utils import timezone

from bundle_verifier.log_extract import check
from bundle_verifier.verification_report import status_text
from delivery.quotes import services as quoting
from engagements import services
from engagements.access import allowed
from engagements.audit import audit_log, log_extracts
from engagements.audit_rows.tracking import open_tables, tracked_tables
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import ApiToken, AuditEntry, Customer, Engagement, Membership, Role
from engagements.permissions import Can
from tests.delivery.conftest import api_client
from tests.delivery.evidence.rows_of_all_tables import write_everything

# What an auditor must not see: of these tables no row in any list, no contents in the log.
UNSEEN = {
    # prices, costs, time
    "quotes.discountlimit", "quotes.priceimport", "quotes.priceline", "quotes.quote",
    "quotes.quoteanswer", "quotes.frameworkcontract", "invoicing.invoice", "invoicing.payment",
    "quotes.quotefile", "quotes.quoteline", "quotes.ratecard", "quotes.taxrate",
    "planning.effortdriver", "planning.effortestimate", "planning.effortline",
    "planning.gradecost", "planning.marginfloor", "planning.absence", "planning.skill",
    "planning.timeentry", "planning.timesheet", "planning.timesheetfile",
    "planning.changerequest", "planning.changerequestfile", "planning.changeproposal",
    "planning.priceeffect", "documents.currency", "agreement.agreement",
    # the firm's own notes
    "planning.meeting", "planning.meetingfile", "planning.projectissue", "planning.risk",
    "planning.todo", "planning.weeklyreport", "planning.weeklyreportfile",
    "engagements.stagecomment", "surveys.comment", "acceptance.reviewcomment",
    "knowledge.caseevidence", "knowledge.solvedcase", "portal.savedview",
    # people, and what lets somebody in
    "engagements.user", "engagements.apitoken", "documents.staffcertificate",
    "notices.channel", "notices.mailsetting", "notices.preference", "workers.nodelogin",
}
# Of these an auditor sees rows all the same: what the customer sees of them, or their own.
SHARED = {"acceptance.reviewcomment", "surveys.comment", "planning.meeting", "planning.todo",
          "planning.changeproposal", "planning.timesheet"}


@pytest.fixture
def auditor(people):
    return people[Role.AUDITOR]


def test_the_list_of_what_an_auditor_must_not_see_is_complete():
    confidential = {table._meta.label_lower for table in tracked_tables()} - open_tables()
    assert confidential == UNSEEN


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.CONSULTANT, Role.REVIEWER])
def test_every_list_can_be_narrowed_to_a_person(people, engagement, role):
    lists = [table._default_manager for table in tracked_tables()
             if hasattr(table._default_manager, "visible_to")]
    assert [rows.model for rows in lists if rows.visible_to(people[role]).count() < 0] == []


@pytest.mark.slow
@pytest.mark.usefixtures("quick_files", "addresses", "practice_certificate_set")
def test_no_list_shows_an_auditor_a_confidential_row(delivered, act, people, auditor):
    write_everything(delivered, act, people)
    seen = {}
    for table in tracked_tables():
        rows = table._default_manager
        if hasattr(rows, "visible_to") and rows.exists():
            seen[table._meta.label_lower] = rows.visible_to(auditor).exists()
    wrong = {label for label in UNSEEN - SHARED if seen.get(label)}
    assert wrong == set()
    assert {label for label in ("workers.job", "workers.artifact", "assessments.verdict",
                                "reports.document", "acceptance.review") if not seen[label]
            } == set()


@pytest.fixture
def log(people, engagement):
    manager = people[Role.MANAGER]
    audit_log.record(actor=None, action="engagement.create", target=engagement)  # of fixtures
    services.add_model(actor=manager, engagement=engagement, code="A", name="甲")
    quote = quoting.create_quote(actor=people[Role.SALES], engagement=engagement)
    other = Engagement.objects.create(code="OTHER", name="别", customer=Customer.objects.first())
    services.add_model(actor=manager, engagement=other, code="B", name="乙")
    return quote


def test_the_log_is_that_of_their_engagements_or_of_the_firm(client, log, auditor):
    client.force_login(auditor)
    codes = {entry.engagement and entry.engagement.code for entry in client.get(
        "/audit/").context["page"]}
    assert codes == {"EP2501"}
    entry = AuditEntry.objects.get(action="model.add", engagement__code="OTHER")
    assert client.get(f"/audit/{entry.pk}/").status_code == 404
    assert "OTHER" not in client.get("/audit/").content.decode()
    auditor.audits_firm = True
    auditor.save()
    assert client.get(f"/audit/{entry.pk}/").status_code == 200
    codes = {entry.engagement and entry.engagement.code for entry in client.get(
        "/audit/").context["page"]}
    assert codes == {"EP2501", "OTHER", None}


def test_a_price_is_withheld_on_pages_in_the_api_and_in_the_search(client, log, auditor, people):
    entry = AuditEntry.objects.get(action="quote.create")
    client.force_login(auditor)
    html = client.get(f"/audit/{entry.pk}/").content.decode()
    assert str(log) not in html
    assert entry.entry_hash in html
    assert str(log) not in client.get("/audit/").content.decode()
    assert client.get("/audit/", {"text": str(log)}).context["page"].paginator.count == 0
    [found] = [row for row in api_client(auditor).get("/api/v1/audit-entries/").data["results"]
               if row["id"] == entry.pk]
    assert (found["is_withheld"], found["rows"], found["data"], found["target_label"]) == (
        True, {}, {}, "")
    assert client.get("/audit/", {"text": "A 甲"}).context["page"].paginator.count == 1
    client.force_login(people[Role.MANAGER])
    assert str(log) in client.get(f"/audit/{entry.pk}/").content.decode()


def test_old_and_new_values_stand_side_by_side(client, people, engagement, auditor):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="A",
                               name="甲")
    services.update_model(actor=people[Role.MANAGER], model=model, name="乙")
    client.force_login(auditor)
    entry = AuditEntry.objects.get(action="model.update")
    page = client.get(f"/audit/{entry.pk}/")
    assert ("name", "甲", "乙") in page.context["facts"]
    [change] = page.context["changes"]
    assert change.was == AuditEntry.objects.get(action="model.add").pk
    assert ("甲", "乙") in [(before, now) for _name, before, now in change.columns]


def test_the_export_can_be_recomputed_outside(client, log, auditor, people, tmp_path):
    client.force_login(auditor)
    audit_log.record(actor=None, action="audit.head", target=Customer.objects.first(), data={})
    answer = client.get("/audit/export/", {"engagement": "EP2501"})
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(answer.streaming_content))
    assert [status_text(step) for step in check(path)] == ["  ok"]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    entries = [row for row in rows if "hash" in row]
    assert {row["action"]: row.get("is_withheld", False) for row in entries} == {
        "model.add": False, "quote.create": True, "audit.head": False}
    assert AuditEntry.objects.latest("pk").action == "file.download"
    whole = path.read_text()
    for old, new in (('"甲"', '"丙"'), (rows[0]["head"]["root"], "0" * 64),
                     (entries[0]["hash"], "0" * 64), ('"model.add"', '"model.drop"'),
                     (whole.splitlines()[1] + "\n", "")):
        assert old in whole
        path.write_text(whole.replace(old, new))
        assert "FAIL" in [status_text(step) for step in check(path)], (old, new)


def test_an_auditor_writes_nothing_whatever_a_service_asks_for(people, engagement, auditor):
    assert [can for can in Can if allowed(auditor, can)] == [Can.AUDIT, Can.WITNESS]
    with pytest.raises(NotAllowed):
        audit_log.record(actor=auditor, action="engagement.update", target=engagement)
    with pytest.raises(NotAllowed):
        services.add_model(actor=auditor, engagement=engagement, code="A", name="甲")


def test_access_ends_with_its_last_day(client, log, auditor):
    client.force_login(auditor)
    ApiToken.objects.create(owner=auditor, created_by=auditor, name="t", scope="read",
                            expires_at=timezone.now() + timedelta(days=9))
    auditor.access_ends_on = timezone.localdate()
    auditor.save()
    assert client.get("/audit/").status_code == 200
    assert ApiToken.objects.in_force().exists()
    auditor.access_ends_on -= timedelta(days=1)
    auditor.save()
    assert client.get("/audit/").url.startswith("/login/")
    assert not ApiToken.objects.in_force().exists()
    assert not allowed(auditor, Can.AUDIT)
    assert not Engagement.objects.visible_to(auditor).exists()
    assert not AuditEntry.objects.visible_to(auditor).exists()
    assert api_client(auditor).get("/api/v1/audit-entries/").status_code == 403


def test_who_audits_does_not_work_on_the_same_team(people, engagement, auditor):
    admin = people[Role.ADMINISTRATOR]
    with pytest.raises(WrongState):
        services.update_person(actor=admin, person=people[Role.CONSULTANT], role=Role.AUDITOR)
    Membership.objects.filter(user=auditor).delete()
    with pytest.raises(InvalidInput):
        services.add_member(actor=admin, engagement=engagement, user=auditor,
                            role=Role.CONSULTANT)
    with pytest.raises(InvalidInput):
        services.add_member(actor=admin, engagement=engagement, user=people[Role.SALES],
                            role=Role.AUDITOR)
    with pytest.raises(InvalidInput):
        services.update_person(actor=admin, person=people[Role.SALES], audits_firm=True)
    services.add_member(actor=people[Role.MANAGER], engagement=engagement, user=auditor)


def test_every_table_that_the_log_names_is_known():
    assert all(apps.get_model(label) for label in log_extracts.OF_THE_LOG | open_tables())
