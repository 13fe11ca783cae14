"""One agreement: drafted from survey, quote and terms, agreed with the statement of work, changed
by change requests and accepted quotes; every document reads it."""

import io
from datetime import date
from decimal import Decimal
from importlib import import_module

import openpyxl
import pytest
from django.apps import apps
from django.db import transaction
from django.utils import timezone
from django.utils.translation import override

from assessments.models import CriteriaSet
from delivery.acceptance.services import set_terms
from delivery.agreement.facts import FACTS, months_in
from delivery.agreement.models import Agreement
from delivery.agreement.queries import agreement_of
from delivery.agreement.services import draft_agreement, enter_values
from delivery.documents.bilingual import in_language
from delivery.documents.models import CompanyProfile
from delivery.planning.changes.change_labels import presented
from delivery.planning.control.weekly_facts import week_facts
from delivery.planning.effort.usage import days_by_grade
from delivery.planning.models import Dependency
from delivery.planning.plan.task_dates import end_of, schedule
from delivery.planning.services import changes, plans
from delivery.portal.models import ChartFigure
from delivery.quotes import services as quoting
from delivery.reports import services as reporting
from delivery.reports.issue_checks import agreement_checks
from delivery.reports.models import Document
from delivery.reports.office.workbook import document_xlsx
from delivery.reports.services.render_jobs import document_issued
from engagements import services as engagement_services
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Customer, Role
from tests.delivery.conftest import enter, stored
from tests.delivery.planning.conftest import WORDS
from tests.delivery.reports.test_kinds import drafted


def answered(quote, people):
    return quoting.answer_quote(actor=people[Role.REVIEWER], quote=quote, is_accepted=True)


def agree(engagement, people):
    """The statement of work, issued as the last of its files does it."""
    work = drafted(engagement, people, "SOW")
    work.number, work.issued_by = "SOW-1", people[Role.MANAGER]
    with transaction.atomic():
        document_issued.send(type(work), document=work)
    work.delete()
    return agreement_of(engagement)


def found_by(code: str, document) -> list[str]:
    with override("en"):
        return [problem.sentence for problem in agreement_checks.agreement_holds(document)
                if problem.sentence.startswith(code)]


@pytest.mark.parametrize(("text", "months"), [
    ("终验通过之日起三个月内", 3), ("质保 12 个月", 12), ("质保期两年", 24), ("二十四个月", 24),
    ("一年，其中前 3 个月驻场", None), ("按合同", None)])
def test_the_period_that_a_sentence_names(text, months):
    assert months_in(text) == months


def test_a_draft_follows_its_sources_and_keeps_what_was_entered(planned, quoted, people):
    with override("en"):
        assert agreement_of(planned).value("warranty_months") == 3
        assert agreement_of(planned).source("warranty_months")["en"] == (
            f"Quotation {quoted.number} V1, offered and not accepted: Warranty")
        answered(quoted, people)
        assert agreement_of(planned).source("price")["en"] == f"Quotation {quoted.number} V1"
        draft = Agreement.objects.get(engagement=planned)
        assert (draft.state, draft.version, draft.values) == ("draft", 1, {})
        set_terms(actor=people[Role.MANAGER], engagement=planned, warranty_months=12)
        assert agreement_of(planned).value("warranty_months") == 12
        enter(planned, people, warranty_months=6, excluded="不含云资源", excluded_en="No cloud")
        now = agreement_of(planned)
    assert (now.value("warranty_months"), now.value("excluded")["en"]) == (6, "No cloud")
    assert now.source("warranty_months")["en"].startswith("entered by ")
    assert AuditEntry.objects.filter(action="agreement.enter").count() == 1
    with pytest.raises(NotAllowed):
        enter_values(actor=people[Role.CONSULTANT], agreement=draft, warranty_months=1)
    enter(planned, people, warranty_months=None, excluded="")
    assert agreement_of(planned).value("warranty_months") == 12


def test_a_statement_of_work_agrees_and_what_changes_later_is_a_version_or_a_contradiction(
        planned, quoted, people):
    manager = people[Role.MANAGER]
    answered(quoted, people)
    first = agree(planned, people)
    assert (first.state, first.version, first.basis) == ("agreed", 1, "SOW-1 V1.0")
    assert first.value("price")["gross"] == quoted.snapshot["totals"]["gross"]
    assert agree(planned, people) == first  # the same again is no new version
    with pytest.raises(InvalidInput, match="3"):
        set_terms(actor=manager, engagement=planned, warranty_months=12)
    with pytest.raises(InvalidInput):
        enter_values(actor=manager, agreement=first, warranty_months=12)
    report = drafted(planned, people, "TR")
    assert found_by("R-AGR", report) == []
    planned.ends_on = date(2026, 1, 31)
    planned.save()
    planned.models.get(code="PSR").stages.filter(stage="infer_tune").update(state="skipped")
    report.refresh_from_db()
    end, scope = found_by("R-AGR-01", report)
    assert "says 2099-12-31, Data of the engagement says 2026-01-31" in end
    assert "Models and stages in scope" in scope
    reporting.add_deliverable(actor=manager, engagement=planned, title="培训记录")
    assert "holds D-01 培训记录, Agreement V1 does not" in found_by("R-AGR-05", report)[0]
    assert "owes D-01 培训记录" in found_by("R-AGR-05", drafted(planned, people, "HD"))[-1]
    second = agree(planned, people)
    assert (second.version, second.value("ends_on")) == (2, "2026-01-31")
    assert Agreement.objects.get(version=1).state == "superseded"
    assert found_by("R-AGR", report) == []
    extra = quoting.create_quote(actor=people[Role.SALES], engagement=planned, relation="adds")
    extra = _issued_copy(extra, quoted)
    answered(extra, people)
    third = agreement_of(planned)
    assert (third.version, third.basis) == (3, str(extra))
    assert Decimal(third.value("price")["gross"]) == 2 * Decimal(first.value("price")["gross"])
    assert third.value("ends_on") == "2026-01-31"


def _issued_copy(quote, like):
    """Another quote of the same content, before the customer."""
    quote.snapshot, quote.content_hash = like.snapshot, like.content_hash
    quote.state, quote.issued_at = "issued", like.issued_at
    quote.save()
    return quote


def test_each_check_names_both_places(planned, quoted, people):
    """Payments, dates, order of stages, warranty, exclusions; the draft cannot be submitted."""
    manager = people[Role.MANAGER]
    work = drafted(planned, people, "SOW")
    assert found_by("R-AGR-06", work) == [
        "R-AGR-06 Payments: The plan's milestones pay 100 %, the agreement 30 % + 40 % + "
        "30 %."]
    plan = plan_of(planned)
    last = end_of(schedule(plan))
    planned.ends_on = date(2025, 7, 2)
    planned.save()
    work = type(work).objects.get(pk=work.pk)
    assert found_by("R-AGR-02", work) == [
        f"R-AGR-02 Dates: The plan ends on {last}, the agreed period on 2025-07-02."]
    set_terms(actor=manager, engagement=planned, warranty_months=12)
    work = type(work).objects.get(pk=work.pk)
    assert found_by("R-AGR-04", work) == [
        f"R-AGR-04 Warranty: Quotation {quoted}, offered and not accepted: Warranty says 3 months "
        "of warranty, Agreement V1 12 months."]
    quoted.snapshot["lines"][0]["category"] = "resource"
    quoted.save()
    enter(planned, people, excluded="云资源费用按实际账单", excluded_en="Cloud fees as billed")
    work = type(work).objects.get(pk=work.pk)
    assert "the price holds" in found_by("R-AGR-07", work)[0]
    with pytest.raises(InvalidInput, match="R-AGR-02"):
        reporting.submit_document(actor=manager, document=work)


def test_stages_out_of_order_and_payments_that_do_not_add_up_are_named(planned, quoted, people):
    quoted.snapshot["payment"][0]["amount"] = "1.00"
    quoted.save()
    accept = plan_of(planned).tasks.get(model__code="LLM", stage="accept")
    Dependency.objects.filter(after=accept).delete()  # it waits for nothing
    work = drafted(planned, people, "SOW")
    assert found_by("R-AGR-03", work)[0].startswith(
        "R-AGR-03 Order of the stages: LLM: the acceptance begins on ")
    assert found_by("R-AGR-06", work)[0] == (
        f"R-AGR-06 Payments: The payments add up to {Decimal(quoted_sum(quoted))}, the price is "
        f"{quoted.snapshot['totals']['gross']}.")


def quoted_sum(quote) -> str:
    return str(sum(Decimal(row["amount"]) for row in quote.snapshot["payment"]))


def test_one_content_for_several_models_stops_the_submission_unless_it_has_a_reason(
        planned, quoted, people):
    """The mark of a practice node is a reason, too."""
    manager = people[Role.MANAGER]
    enter(planned, people, deliverables=["weights"])
    agree(planned, people)
    rows = reporting.list_agreed(actor=manager, engagement=planned)
    for row in rows:
        file = stored(planned, row.model, "model.om", b"om")
        last = reporting.fulfil_deliverable(actor=manager, deliverable=row, artifact=file)
    report = drafted(planned, people, "TR")
    assert found_by("R-AGR-05", report)[0].startswith(
        "R-AGR-05 Deliverables: Weights or converted models: the same content (SHA-256 ")
    with pytest.raises(InvalidInput, match="R-AGR-05"):
        reporting.submit_document(actor=manager, document=report)
    planned.has_practice_data = True
    planned.save()
    assert found_by("R-AGR-05", Document.objects.get()) == []
    planned.has_practice_data = False
    planned.save()
    reporting.update_deliverable(actor=manager, deliverable=last,
                                 same_content_reason="两个模型共用同一骨干网络")
    report = reporting.refresh_draft(actor=manager, document=Document.objects.get())
    assert found_by("R-AGR-05", report) == []
    assert any("两个模型共用同一骨干网络" in cell for line in in_language(
        report.snapshot, "en")["tables"]["deliverables"]["rows"] for cell in line)


def test_a_change_request_moves_the_end_and_nothing_else_does(planned, quoted, people):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    answered(quoted, people)
    agree(planned, people)
    with override("en"), pytest.raises(WrongState, match="The end is agreed in Agreement V1"):
        engagement_services.update_engagement(actor=manager, engagement=planned,
                                              ends_on=date(2100, 3, 31))
    change = changes.create_change(actor=consultant, engagement=planned,
                                   ends_on=date(2100, 3, 31), **WORDS)
    change = changes.submit_change(actor=consultant, change=change)
    with override("en"):
        assert presented(change.facts)["schedule"]["said"] == (
            "The contract ends on 2100-03-31 (was 2099-12-31).")
    for role in (Role.MANAGER, Role.REVIEWER):
        change = changes.approve_change(actor=people[role], change=change)
    planned.refresh_from_db()
    found = agreement_of(planned)
    assert (planned.ends_on, found.version, found.value("ends_on"), found.basis) == (
        date(2100, 3, 31), 2, "2100-03-31", str(change))
    assert found.source("ends_on") == {"zh-hans": str(change), "en": str(change)}
    assert found.source("price") == Agreement.objects.get(version=1).source("price")
    assert found_by("R-AGR-01", drafted(planned, people, "TR")) == []


def test_an_end_that_moved_meanwhile_stops_the_change(planned, people):
    change = changes.create_change(actor=people[Role.CONSULTANT], engagement=planned,
                                   ends_on=date(2100, 3, 31), **WORDS)
    change = changes.submit_change(actor=people[Role.CONSULTANT], change=change)
    engagement_services.update_engagement(actor=people[Role.MANAGER], engagement=planned,
                                          ends_on=date(2099, 11, 30))
    with pytest.raises(WrongState, match="2099-11-30"):
        changes.approve_change(actor=people[Role.REVIEWER], change=change)
    early = changes.create_change(actor=people[Role.CONSULTANT], engagement=planned,
                                  ends_on=date(2001, 1, 1), **WORDS)
    with pytest.raises(WrongState, match="2025-07-01"):
        changes.submit_change(actor=people[Role.CONSULTANT], change=early)


def test_the_first_criteria_that_are_signed_are_agreed_on(planned, quoted, people):
    signed = planned.criteria_sets.get(state="signed")
    CriteriaSet.objects.filter(pk=signed.pk).update(state="draft", signed_at=None)
    agree(planned, people)
    assert agreement_of(planned).value("criteria") is None
    signed.save()
    found = agreement_of(planned)
    assert (found.version, found.value("criteria")) == (
        2, {"version": signed.version, "hash": signed.content_hash})
    assert found_by("R-AGR-01", drafted(planned, people, "TR")) == []


KINDS = ("AS", "MP", "AC", "BL", "EC", "TR", "PA", "PL", "FA", "HD")


def test_a_fact_reads_the_same_wherever_it_stands(planned, quoted, people, client, api):
    """All documents, their workbook, page, API, portfolio, charts, time and weekly report; what
    nobody agreed on says so in all."""
    manager = people[Role.MANAGER]
    answered(quoted, people)
    plans.set_milestones(actor=manager, plan=plan_of(planned), rows=[
        {"name": name, "name_en": name, "percent": Decimal(percent), "trigger": trigger}
        for name, percent, trigger in (("签约", 30, "signing"), ("初验", 40, "preliminary"),
                                       ("终验", 30, "FA"))])
    enter(planned, people, deliverables=["code", "manual"], cooperation="机房供电",
          cooperation_en="Power")
    agreed = agree(planned, people)
    documents = {"SOW": drafted(planned, people, "SOW")}  # what it offers is drawn anew
    Customer.objects.update(name="改名后的客户", credit_code="")  # what was agreed stays
    CompanyProfile.objects.update(name="改名后的公司")
    quoted.snapshot = {}  # the others do not read it
    quoted.save()
    documents |= {kind: drafted(planned, people, kind) for kind in KINDS}
    drafts = {kind: in_language(row.snapshot, "en") for kind, row in documents.items()}
    tables = {kind: found.get("tables", {}) for kind, found in drafts.items()}
    client.force_login(manager)
    page = client.get("/engagements/EP2501/agreement/",
                      headers={"accept-language": "en"}).content.decode()
    rows = api(Role.MANAGER).get("/api/v1/agreements/?state=agreed",
                                 headers={"accept-language": "en"}).json()["results"]
    told = {fact["name"]: fact["text"] for fact in rows[0]["facts"]}
    assert set(told) == {fact.name for fact in FACTS}
    assert {told_["zh-hans"] == told_["en"] for name in ("excluded", "warranty_months", "scope")
            for told_ in [agreed.source(name)]} == {False}
    assert all(line.replace("&", "&amp;") in page
               for text in told.values() for line in text.splitlines())
    everywhere = {(found["engagement"]["contract_number"], found["engagement"]["starts_on"],
                   found["engagement"]["ends_on"], *(
                       (found[side]["name"], found[side]["credit_code"])
                       for side in ("customer", "supplier"))) for found in drafts.values()}
    assert everywhere == {(told["contract_number"], told["starts_on"], told["ends_on"], *(
        (agreed.value(side)["name"]["en"], agreed.value(side)["credit_code"])
        for side in ("customer", "supplier")))}
    assert all(row["hash"] == agreed.value("criteria")["hash"] for found in drafts.values()
               for row in found["references"] if row["title"] == "Signed acceptance criteria")
    names = ["Source code of the models", "User guide"]
    assert {tuple(row[column] for row in tables[kind][key]["rows"]) for kind, key, column in (
        ("SOW", "deliverables", 1), ("MP", "deliverables", 1), ("TR", "deliverables", 0),
        ("PA", "deliverables", 0), ("FA", "deliverables", 0), ("HD", "agreed", 0))} == {
        tuple(names)}
    book = openpyxl.load_workbook(io.BytesIO(document_xlsx(documents["HD"].snapshot, "en")))
    assert set(names) <= {cell.value for sheet in book for row in sheet.iter_rows() for cell in row}
    terms = dict(tables["SOW"]["terms"]["rows"])
    assert told["warranty_months"] == tables["FA"]["warranty"]["rows"][0][0] == terms[
        "Warranty"] == "3 months"
    assert (terms["Cooperation of the customer"], terms["Way of acceptance"]) == (
        told["cooperation"], told["acceptance"])
    assert dict(tables["SOW"]["excluded"]["rows"]) == {
        "Included": told["included"], "Not included": told["excluded"]}
    assert tables["SOW"]["fee"]["rows"][-1][-1].split()[-1] in told["price"]
    amounts = {row[0]: row[-1] for row in tables["SOW"]["milestones"]["rows"]}
    assert [row[2] for row in tables["FA"]["payments"]["rows"]] == [amounts["Final acceptance"]]
    assert told["payments"].splitlines() == [
        f"{row[0]} · {row[3]}; {row[4]}" for row in tables["SOW"]["milestones"]["rows"]]
    assert tables["SOW"]["staffing"]["rows"] == tables["MP"]["staffing"]["rows"]
    assert told["platform"] == terms["Target platform"] == told["resources"] == tables["MP"][
        "resources"]["empty"] == "not agreed"
    assert agreed.value("scope") == {model.code: [record.stage for record in model.stages.exclude(
        state="skipped").order_by("position")] for model in planned.models.all()}
    row = api(Role.MANAGER).get("/api/v1/portfolio/").json()[0]
    days = sum(Decimal(n) for n in agreed.value("effort")["grades"].values())
    assert (row["quoted_amount"], row["due"], row["stages_in_scope"], row["days_quoted"]) == (
        agreed.value("price")["net"], agreed.value("ends_on"),
        sum(map(len, agreed.value("scope").values())), f"{days:.2f}")
    assert ChartFigure.objects.get(chart="value").number == Decimal(row["quoted_amount"])
    assert [Decimal(line["quoted"]) for line in days_by_grade(planned)
            if line["quoted"]] == [days]
    assert [week_facts(planned, day)["resources"]["quoted"] for day in (
        date(2025, 6, 30), timezone.localdate())] == ["0", f"{days}"]  # not agreed on then
    assert tables["SOW"]["tasks"]["rows"][-1][-1] == tables["MP"]["staffing"]["rows"][-1][-1] == (
        f"{days:.1f}")


def plan_of(engagement):
    from delivery.planning.models import Plan

    return Plan.objects.get(engagement=engagement)


def test_who_reads_and_writes_it(planned, quoted, people, client, api, outside):
    draft = draft_agreement(actor=people[Role.MANAGER], engagement=planned)
    url = f"/api/v1/agreements/{draft.pk}/"
    assert outside.get(url).status_code == api(Role.REVIEWER).get(url).status_code == 404
    assert api(Role.AUDITOR).get(url).status_code == 404
    assert api(Role.CONSULTANT).post(f"{url}enter/", {"warranty_months": 6}).status_code == 403
    done = api(Role.MANAGER).post(f"{url}enter/", {"warranty_months": 6})
    assert done.status_code == 200
    assert {fact["name"]: fact["value"] for fact in done.json()["facts"]}["warranty_months"] == 6
    client.force_login(people[Role.MANAGER])
    page = "/engagements/EP2501/agreement/"
    assert client.post(page, {"warranty_months": "0"}).status_code == 400
    assert client.post(page, {"warranty_months": "9"}).status_code == 302
    assert agreement_of(planned).value("warranty_months") == 9
    agree(planned, people)
    enter(planned, people, warranty_months=7)  # the draft of the next version
    seen = {}
    for role in (Role.MANAGER, Role.REVIEWER, Role.AUDITOR):
        client.force_login(people[role])
        seen[role] = client.get(page, headers={"accept-language": "en"}).content.decode()
    price = quoted.snapshot["totals"]["gross"]
    assert [("7 months" in text, "9 months" in text, f"{Decimal(price):,.2f}" in text)
            for text in seen.values()] == [
        (True, True, True), (False, True, True), (False, True, False)]


def test_engagements_of_before_get_a_draft_where_a_quote_was_accepted(planned, quoted, people):
    draft = import_module("delivery.agreement.migrations.0002_draft_agreements").draft
    draft(apps, None)
    assert not Agreement.objects.exists()
    answered(quoted, people)
    Agreement.objects.all().delete()
    for _again in range(2):
        draft(apps, None)
    assert agreement_of(planned).value("price")["gross"] == quoted.snapshot["totals"]["gross"]
    made = Agreement.objects.get()
    entry = AuditEntry.objects.get(action="agreement.draft", target_id=str(made.pk))
    assert list(entry.rows["agreement.agreement"]) == [str(made.pk)]
