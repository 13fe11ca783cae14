"""Solved cases: recorded of what failed and was cured, proposed to later failures."""

from datetime import date

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.translation import override

from assessments.models import Verdict
from delivery.knowledge import prefill
from delivery.knowledge.diagnosis_labels import diagnosis_label
from delivery.knowledge.models import CaseEvidence, SolvedCase
from delivery.knowledge.services import cases as services
from delivery.planning.services import control
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import ApiToken, AuditEntry, MigratedModel, Role
from engagements.optimistic_locking import EditConflict
from tests.delivery.conftest import api_client, measure
from tests.delivery.knowledge.conftest import ASSERTION, HCCL, OPERATOR
from workers.logs.diagnosis import BY_CODE
from workers.models import JobState

WORDS = {"title": "HCCL wait times out", "cause": "One rank still compiled its operators.",
         "cure": "Raise HCCL_EXEC_TIMEOUT to 3600 for the first step."}
SECRETS = ("某电力公司", "power company", "EP2501", "变电站", "npu-grid-07", "10.20.30",
           "/data/grid", "liwei")


@pytest.fixture
def add(people, fail):
    return lambda **fields: services.add_case(**{
        "actor": people[Role.CONSULTANT], **WORDS, "error_code": "EI0002",
        **({} if {"issue", "verdict"} & set(fields) else {"job": fail(HCCL)}), **fields})


def approved(case: SolvedCase, people) -> SolvedCase:
    case.refresh_from_db()
    return services.approve_case(actor=people[Role.MANAGER], case=case, seen=case.lock_version)


def page_of(client, user, url: str) -> str:
    client.force_login(user)
    answer = client.get(url)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def test_the_form_starts_with_the_diagnosis(client, people, fail, succeed):
    failed = fail(ASSERTION, parameters={"seq_length": 4096, "data": "/data/grid/a"})
    cured = succeed(parameters={"seq_length": 2048, "data": "/data/grid/b"})
    draft = prefill.from_job(failed)
    assert (draft["diagnosis"], draft["error_code"], draft["tool"], draft["cured_by"]) == (
        "python_error", "", "adapt.smoke_train", cured)
    assert draft["versions"]["cann"] == "8.0.RC2"
    assert "seq_length: 4096 → 2048" in draft["cure"]
    assert draft["log_pattern"].startswith("RuntimeError: The size of tensor a (")
    client.force_login(people[Role.CONSULTANT])
    url = reverse("knowledge:case_new") + f"?job={failed.pk}"
    form = client.get(url).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    sent["cured_by"] = cured.pk
    sent["versions"] = "cann 8.0.RC2\ntorch_npu 2.1.0.post6"
    made = client.post(url, {**sent, "title": "Attention mask has the wrong length"})
    assert made.status_code == 302, made.context["form"].errors
    case = SolvedCase.objects.get()
    assert case.versions == {"cann": "8.0.RC2", "torch_npu": "2.1.0.post6"}
    assert {(row.shows, row.job) for row in case.evidence.all()} == {
        ("problem", failed), ("cure", cured)}
    assert AuditEntry.objects.get(action="case.add").engagement is None


@pytest.mark.parametrize("fields", [
    {"error_code": ""}, {"error_code": "", "diagnosis": "python_error"},
    {"log_pattern": "* err *"}, {"cause": " "}, {"tool": "no.such"},
    {"versions": {"cann": ["8"]}},
])
def test_a_signature_that_says_nothing_is_refused(add, fields):
    with pytest.raises(InvalidInput):
        add(**fields)


def test_what_is_not_solved_is_no_case(add, people, engagement, fail, succeed):
    common = {"actor": people[Role.MANAGER], "engagement": engagement, "level": "minor",
              "raised_on": date(2025, 7, 1), "due_on": date(2025, 7, 9),
              "owner": people[Role.CONSULTANT]}
    issue = control.add_issue(description="EZ3003: optype [Einsum] is not supported", **common)
    with pytest.raises(WrongState):
        add(issue=issue)
    control.update_issue(actor=people[Role.MANAGER], issue=issue, closed_on=date(2025, 7, 5))
    issue.refresh_from_db()
    draft = prefill.from_issue(issue)
    assert (draft["error_code"], draft["operator"]) == ("EZ3003", "Einsum")
    case = add(issue=issue, error_code="EZ3003")
    assert case.evidence.get().issue == issue
    with pytest.raises(WrongState):
        add(job=succeed())
    with pytest.raises(InvalidInput):
        add(job=None)
    earlier = succeed()
    with pytest.raises(InvalidInput):
        add(job=fail(HCCL), cured_by=fail(HCCL))
    with pytest.raises(InvalidInput):
        add(job=fail(HCCL), cured_by=earlier)


@pytest.mark.slow
def test_a_failed_verdict_becomes_a_case_once_it_passed(add, people, delivered):
    model = MigratedModel.objects.get(code="LLM")
    measure(delivered, people, model, scale=1.5)
    bad = Verdict.objects.filter(outcome="failed",
                                 criterion__definition__code="loss_mean_relative_error").first()
    words = {"title": "Loss drifts", "log_pattern": "grad norm: nan", "error_code": ""}
    with pytest.raises(WrongState):
        add(verdict=bad, **words)
    measure(delivered, people, model, scale=1.003)
    case = add(verdict=bad, **words)
    assert {row.shows: row.verdict.outcome for row in case.evidence.all()} == {
        "problem": "failed", "cure": "passed"}


def test_a_later_failure_of_another_customer_is_told_what_was_approved(
        client, add, people, fail, succeed, elsewhere, stranger, node):
    first = fail(HCCL)
    case = approved(add(job=first, cured_by=succeed(), versions={"cann": "8.0.RC2"}), people)
    node.software = {**node.software, "cann": "8.2.RC1"}
    node.save()
    later = fail(HCCL.replace("10.20.30", "10.77.0"), engagement=elsewhere)
    page = page_of(client, stranger, reverse("workers:job", args=[later.pk]))
    assert WORDS["cure"] in page
    assert "8.0.RC2" in page
    shown = page[page.index('id="solved-cases"'):page.index('class="desk-facts"')]
    url = reverse("knowledge:case", args=[case.pk])
    for text in (shown, page_of(client, stranger, url),
                 page_of(client, stranger, reverse("knowledge:cases"))):
        assert not [word for word in SECRETS if word in text]
        assert f"/jobs/{first.pk}/" not in text
    assert "2 further items belong" in client.get(
        url, headers={"accept-language": "en"}).content.decode()
    assert f"/jobs/{first.pk}/" in page_of(client, people[Role.CONSULTANT], url)
    [hit] = api_client(stranger).get("/api/v1/solved-cases/", {"job": later.pk}).json()["results"]
    assert (hit["id"], hit["evidence"], hit["engagements_seen"], hit["cures"]) == (
        case.pk, [], 1, 1)
    assert not [word for word in SECRETS if word in str(hit)]
    assert api_client(stranger).get("/api/v1/solved-cases/", {"job": first.pk}).status_code == 404


@pytest.mark.slow
def test_nobody_elsewhere_sees_a_text_before_somebody_approved_it(
        client, add, people, fail, elsewhere, stranger):
    case, later = add(), fail(HCCL, engagement=elsewhere)
    manager, api = people[Role.MANAGER], api_client(stranger)

    def shown() -> tuple:
        client.force_login(stranger)
        page = client.get(reverse("workers:job", args=[later.pk])).content.decode()
        return (WORDS["cure"] in page, [match.case for match in queries_matches(later, stranger)],
                client.get(reverse("knowledge:case", args=[case.pk])).status_code,
                [row["id"] for row in api.get("/api/v1/solved-cases/").json()["results"]],
                api.get(f"/api/v1/solved-cases/{case.pk}/").status_code)

    nothing, all_of_it = (False, [], 404, [], 404), (True, [case], 200, [case.pk], 200)
    assert shown() == nothing
    assert queries_matches(fail(HCCL), people[Role.CONSULTANT])
    with pytest.raises(WrongState):  # nor is it used there
        services.add_evidence(actor=manager, case=case, job=later)
    approved(case, people)
    assert shown() == all_of_it
    services.update_case(actor=people[Role.CONSULTANT], case=case, cure=WORDS["cure"])
    assert shown() == all_of_it
    services.update_case(actor=people[Role.CONSULTANT], case=case, cause="某电力公司的网络不通")
    assert shown() == nothing
    approved(case, people)
    for refused in (lambda: services.update_case(actor=stranger, case=case, cure="x"),
                    lambda: services.retire_case(actor=stranger, case=case, reason="x")):
        with pytest.raises(NotAllowed):
            refused()
    services.retire_case(actor=manager, case=case, reason="某电力公司已改用 8.3")
    assert shown() == nothing  # of its reason nobody approved the text
    services.restore_case(actor=manager, case=case)
    assert shown() == all_of_it


def test_a_person_who_did_not_write_the_text_approves_it_as_shown(client, add, people):
    case, manager, own = add(), people[Role.MANAGER], add(actor=people[Role.MANAGER])
    url = reverse("knowledge:case", args=[case.pk])
    approve = reverse("knowledge:case_approve", args=[case.pk])
    waiting = reverse("knowledge:cases") + "?approved=no"
    assert approve not in page_of(client, people[Role.CONSULTANT], url)
    assert approve in page_of(client, manager, url)
    assert list(client.get(waiting).context["page"]) == [own, case]
    for actor, row in ((people[Role.CONSULTANT], case), (manager, own)):
        with pytest.raises(NotAllowed):
            services.approve_case(actor=actor, case=row, seen=1)
    services.update_case(actor=people[Role.CONSULTANT], case=case, cure="other")
    client.post(approve, {"seen": 1})  # what the page showed before
    case.refresh_from_db()
    assert case.approved_at is None
    client.post(approve, {"seen": 2})
    case.refresh_from_db()
    entry = AuditEntry.objects.get(action="case.approve")
    assert (case.approved_by, case.approved_hash, entry.actor, entry.target_id, entry.data) == (
        manager, case.text_hash, manager, str(case.pk), {"hash": case.text_hash})
    assert list(client.get(waiting).context["page"]) == [own]
    with pytest.raises(WrongState):
        services.approve_case(actor=manager, case=case, seen=3)
    services.update_case(actor=manager, case=case, cure="the manager's words")
    with pytest.raises(NotAllowed):
        services.approve_case(actor=manager, case=case, seen=4)


def test_the_api_approves_for_a_person_not_for_a_token(add, people):
    case, manager = add(), people[Role.MANAGER]
    api, url = api_client(manager), f"/api/v1/solved-cases/{case.pk}/approve/"
    manager.token = ApiToken()
    assert api.post(url, {"seen": 1}).status_code == 403
    manager.token = None
    assert api.post(url).status_code == 400
    assert api.post(url, {"seen": 7}).status_code == 409
    answer = api.post(url, {"seen": 1}).json()
    case.refresh_from_db()
    assert (answer["approved_by"], answer["approved_hash"], answer["engagement"]) == (
        manager.pk, case.text_hash, case.engagement_id)


def test_other_failures_are_told_nothing(client, add, people, fail):
    add()
    for other in (OPERATOR, ASSERTION):
        page = page_of(client, people[Role.CONSULTANT],
                       reverse("workers:job", args=[fail(other).pk]))
        assert WORDS["cure"] not in page


def test_the_closest_case_comes_first(add, people, fail):
    wide, close = add(), add(log_pattern="Notify register times out")
    found = queries_matches(fail(HCCL), people[Role.CONSULTANT])
    assert [match.case for match in found] == [close, wide]
    services.retire_case(actor=people[Role.CONSULTANT], case=close, reason="Cured by CANN 8.2")
    assert [match.case for match in queries_matches(fail(HCCL), people[Role.CONSULTANT])] == [wide]


def queries_matches(job, user):
    from delivery.knowledge.queries import matches_of

    return matches_of(job, user)


def test_the_same_problem_is_noted_with_its_case(client, add, people, fail, elsewhere, stranger):
    case = approved(add(), people)
    later = fail(HCCL, engagement=elsewhere)
    client.force_login(stranger)
    client.post(reverse("knowledge:case_evidence", args=[case.pk]), {"job": later.pk})
    assert SolvedCase.objects.noted().get().engagements_seen == 2
    with pytest.raises(InvalidInput):
        services.add_evidence(actor=stranger, case=case, job=later)
    with pytest.raises(WrongState):
        services.add_evidence(actor=stranger, case=case,
                              job=fail(HCCL, engagement=elsewhere, state=JobState.CANCELLED))
    # a job of an engagement that he does not see
    before = CaseEvidence.objects.count()
    answer = client.post(reverse("knowledge:case_evidence", args=[case.pk]),
                         {"job": fail(HCCL).pk})
    assert (answer.status_code, CaseEvidence.objects.count()) == (404, before)
    assert AuditEntry.objects.filter(action="case.evidence").count() == 1


def test_practice_stays_marked_until_a_real_job_shows_it(add, people, fail):
    case = add(job=fail(HCCL, is_practice=True))
    assert case.is_practice
    services.add_evidence(actor=people[Role.CONSULTANT], case=case, job=fail(HCCL))
    case.refresh_from_db()
    assert not case.is_practice


def test_edit_retire_and_restore(client, add, people):
    case, consultant = add(), people[Role.CONSULTANT]
    client.force_login(consultant)
    url = reverse("knowledge:case_edit", args=[case.pk])
    form = client.get(url).context["form"]
    sent = {name: form[name].value() or "" for name in form.fields}
    sent["versions"] = "cann 8.2.RC1"
    assert client.post(url, {**sent, "cure": "Align the ranks' clocks."}).status_code == 302
    case.refresh_from_db()
    assert (case.cure, case.versions) == ("Align the ranks' clocks.", {"cann": "8.2.RC1"})
    assert client.post(url, {**sent, "cure": "too late"}).status_code == 200
    with pytest.raises(EditConflict):
        services.update_case(actor=consultant, case=case, seen=1, cure="x")
    with pytest.raises(InvalidInput):
        services.retire_case(actor=consultant, case=case, reason=" ")
    client.post(reverse("knowledge:case_retire", args=[case.pk]), {"reason": "Gone with 8.3"})
    with pytest.raises(WrongState):
        services.retire_case(actor=consultant, case=case, reason="x")
    listed = reverse("knowledge:cases")
    assert case.title not in page_of(client, consultant, listed)
    assert case.title in page_of(client, consultant, f"{listed}?retired=yes")
    client.post(reverse("knowledge:case_restore", args=[case.pk]))
    case.refresh_from_db()
    assert case.retired_at is None
    assert set(AuditEntry.objects.filter(action__startswith="case.").values_list(
        "action", flat=True)) == {"case.add", "case.update", "case.retire", "case.restore"}


def test_found_by_words_code_and_tool(client, add, people):
    hccl = add()
    einsum = add(title="Einsum 算子不支持", error_code="EZ3003", operator="Einsum",
                 tool="adapt.smoke_train", cure="拆成转置和矩阵乘。")
    client.force_login(people[Role.SALES])
    for query, found in (("q=einsum", [einsum]), ("q=矩阵乘", [einsum]), ("q=HCCL_EXEC", [hccl]),
                         ("error_code=EI0002", [hccl]), ("tool=adapt.smoke_train", [einsum]),
                         ("", [einsum, hccl]), ("q=nothing", [])):
        page = client.get(f"{reverse('knowledge:cases')}?{query}").context["page"]
        assert (query, list(page)) == (query, found)
        rows = api_client(people[Role.SALES]).get(f"/api/v1/solved-cases/?{query}").json()
        assert [row["id"] for row in rows["results"]] == [case.pk for case in found]


def test_who_reads_and_who_writes(client, add, people, fail, engagement):
    job = fail(HCCL)
    case = add(job=job)
    client.force_login(people[Role.REVIEWER])
    for url in (reverse("knowledge:cases"), reverse("knowledge:case", args=[case.pk]),
                reverse("knowledge:case_new") + f"?job={job.pk}",
                reverse("knowledge:case_edit", args=[case.pk])):
        assert client.get(url).status_code == 404
    for name in ("case_retire", "case_restore", "case_evidence"):
        assert client.post(reverse(f"knowledge:{name}", args=[case.pk])).status_code == 404
    assert 'id="solved-cases"' not in page_of(client, people[Role.REVIEWER],
                                              reverse("workers:job", args=[job.pk]))
    reviewer = api_client(people[Role.REVIEWER])
    assert reviewer.get("/api/v1/solved-cases/").json()["results"] == []
    assert reviewer.get(f"/api/v1/solved-cases/{case.pk}/").status_code == 404
    assert api_client(people[Role.SALES]).get(
        f"/api/v1/solved-cases/{case.pk}/").status_code == 200
    for role in (Role.SALES, Role.OPERATOR):
        client.force_login(people[role])
        assert client.get(reverse("knowledge:case_new") + f"?job={job.pk}").status_code == 403
    with pytest.raises(NotAllowed):
        services.update_case(actor=people[Role.SALES], case=case, cure="x")
    limited = people[Role.CONSULTANT]
    limited.token = ApiToken(engagement=engagement)
    assert not SolvedCase.objects.visible_to(limited).exists()


def test_the_api_does_what_the_pages_do(people, fail, succeed, elsewhere):
    api, problem, cure = api_client(people[Role.CONSULTANT]), fail(HCCL), succeed()
    made = api.post("/api/v1/solved-cases/", {
        **WORDS, "error_code": "EI0002", "job": problem.pk, "cured_by": cure.pk,
        "versions": {"cann": "8.0.RC2"}}, format="json")
    assert made.status_code == 201, made.json()
    url = f"/api/v1/solved-cases/{made.json()['id']}/"
    shown = api.get(url).json()
    assert made.json() == shown
    assert (shown["engagements_seen"], shown["cures"], len(shown["evidence"])) == (1, 1, 2)
    assert api.patch(url, {"cure": "other", "seen": 1}, format="json").json() == {
        **shown, "cure": "other", "lock_version": 2}
    assert api.patch(url, {"cure": "late", "seen": 1}, format="json").status_code == 409
    assert api.post(f"{url}evidence/", {"job": fail(HCCL).pk}).status_code == 200
    assert api.post(f"{url}evidence/", {
        "job": fail(HCCL, engagement=elsewhere).pk}).status_code == 400
    assert api.post(f"{url}retire/", {"reason": "old"}).json()["retired_reason"] == "old"
    assert api.post(f"{url}restore/").json()["retired_at"] is None


def test_rows_say_at_least_something(people, add, fail):
    case = add()
    for wrong in ({"error_code": ""}, {"retired_reason": "x"}, {"approved_hash": "x"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            SolvedCase.objects.filter(pk=case.pk).update(**wrong)
    with pytest.raises(IntegrityError, match=r"evidence_is_one_thing"), transaction.atomic():
        CaseEvidence.objects.create(case=case, shows="cure", added_by=people[Role.MANAGER])


def test_diagnoses_are_sentences_of_their_own_in_both_languages():
    codes = {code for code, _headline in BY_CODE}
    for language in ("en", "zh-hans"):
        with override(language):
            labels = {code: diagnosis_label(code) for code in codes}
        assert not [code for code in codes if labels[code] == code or "%(" in labels[code]]
        assert len(set(labels.values())) == len(codes)
    assert diagnosis_label("of_an_older_release") == "of_an_older_release"


def test_pages_say_the_diagnosis_in_words(client, people, add):
    case = add()
    SolvedCase.objects.filter(pk=case.pk).update(diagnosis="hccl_timeout")
    with override("en"):
        sentence = diagnosis_label("hccl_timeout")
    client.cookies["django_language"] = "en"
    consultant = people[Role.CONSULTANT]
    listed = page_of(client, consultant, reverse("knowledge:cases"))
    assert listed.count(sentence) == 2  # in the filter and in the row
    assert sentence in page_of(client, consultant, reverse("knowledge:case", args=[case.pk]))
