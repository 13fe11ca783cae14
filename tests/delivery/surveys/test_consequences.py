"""What follows from the answers: preview, taking over, changed answers, what comes of it."""

import pytest
from django.urls import reverse
from django.utils import timezone

from assessments.models import Baseline
from delivery.planning.models import EffortDriver, Risk
from delivery.planning.services.estimates import draft_estimate
from delivery.surveys import services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import CountedAnswers, compare
from delivery.surveys.consequences.rules import findings, rules_for
from delivery.surveys.models import Consequence
from delivery.surveys.services import Change, decide, save_answers
from engagements.errors import DeskError, InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, MigratedModel, Role
from engagements.stages import Stage, StageState
from tests.delivery.conftest import loss_log, stored
from tests.delivery.surveys.conftest import apply, change, fill, rows
from workers import kinds, rule_checks
from workers.forms.jobs import JobForm
from workers.jobs.form_defaults import defaults_for


def test_a_preview_writes_nothing(confirmed, people, client):
    client.force_login(people[Role.CONSULTANT])
    before = AuditEntry.objects.count()  # the login itself is an entry
    page = client.get(reverse("surveys:consequences", args=["EP2501"]))
    assert page.status_code == 200
    assert {row.status for row in page.context["open_rows"]} == {"new"}
    assert (AuditEntry.objects.count(), Consequence.objects.count()) == (before, 0)


def test_chinese_answers_in_the_english_table_bear_their_language_and_no_mark(
        confirmed, people, client):
    client.force_login(people[Role.CONSULTANT])
    client.cookies["django_language"] = "en"
    page = client.get(reverse("surveys:consequences", args=["EP2501"])).content.decode()
    assert ('<span lang="zh-Hans">' in page, "desk-written" in page) == (True, False)


def test_all_is_taken_over_at_once_with_audit_entries(confirmed, people):
    done = apply(confirmed, people)
    assert {row.status for row in rows(confirmed).values()} == {"applied"}
    entries = AuditEntry.objects.filter(action="consequence.apply")
    assert entries.count() == len(done) == Consequence.objects.count()
    assert services.apply_consequences(actor=people[Role.MANAGER], survey=confirmed) == []


@pytest.mark.slow
def test_scope_decides_the_stages(confirmed, people):
    llm = MigratedModel.objects.get(code="LLM")
    apply(change(confirmed, people, model_scope_at_LLM="inference"), people)
    llm.refresh_from_db()
    skipped = set(llm.stages.filter(state=StageState.SKIPPED).values_list("stage", flat=True))
    assert (llm.scope, skipped) == (
        "inference", {Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE, Stage.OPERATION})
    apply(change(confirmed, people, model_scope_at_LLM="full"), people)
    assert llm.stages.get(state=StageState.SKIPPED).stage == Stage.OPERATION
    assert llm.stages.get(stage=Stage.TRAIN_ADAPT).transitions.first().comment


def test_one_that_cannot_be_taken_over_takes_none_over(confirmed, people):
    llm = MigratedModel.objects.get(code="LLM")
    llm.stages.filter(stage=Stage.TRAIN_ADAPT).update(
        state=StageState.PASSED, passed_at=confirmed.confirmed_at)
    change(confirmed, people, model_scope_at_LLM="inference")
    with pytest.raises(DeskError) as error:
        apply(confirmed, people)
    assert "LLM" in error.value.message
    assert not Consequence.objects.exists()
    assert not EffortDriver.objects.exists()


def test_facts_reach_engagement_and_models(confirmed, people):
    apply(confirmed, people, "fact:deadline", "fact:parameters@LLM", "fact:framework@LLM",
          "fact:scope")
    llm = MigratedModel.objects.select_related("engagement").get(code="LLM")
    assert (str(llm.parameters_billion), llm.framework, str(llm.engagement.ends_on),
            llm.engagement.scope) == ("7.000", "PyTorch 2.1.0", "2026-12-31", "inference")


def test_rules_fit_the_model_and_judge_the_answers(confirmed):
    given = CountedAnswers(Sheet(confirmed))
    llm, hlm = given.models
    chosen = {m.code: {c.rsplit("-", 1)[0] for c in rules_for(given, m)} for m in (llm, hlm)}
    assert chosen == {"LLM": {"R-ENV", "R-SCR", "R-ACC", "R-CFG", "R-PAR", "R-INF"},
                      "HLM": {"R-ENV", "R-INF"}}
    assert [hit.rule for hit in findings(given, llm).of("block")] == ["R-PAR-03"]


def test_job_forms_open_with_the_answers(confirmed, people):
    llm = MigratedModel.objects.get(code="LLM")
    kind = kinds.get("adapt.megatron_train")
    assert defaults_for(kind, llm) == {}
    apply(confirmed, people)
    assert defaults_for(kind, llm) == {
        "cards": 8, "nodes": 2, "tensor_parallel": 2, "pipeline_parallel": 2,
        "global_batch_size": 16, "micro_batch_size": 1, "seq_length": 2048, "seed": 1234,
        "learning_rate": 1e-4, "clip_grad": 1.0, "precision": "bf16"}
    form = JobForm(kind=kind, user=people[Role.MANAGER], engagement=llm.engagement,
                   migrated=llm)
    assert form["seq_length"].initial == 2048
    assert defaults_for(kinds.get("inf.atc"), llm) == {"framework": "5"}


@pytest.mark.slow
def test_stated_figures_wait_for_their_file_and_a_stored_curve_is_recorded(confirmed, people):
    llm = MigratedModel.objects.get(code="LLM")
    curve = stored(llm.engagement, llm, "gpu.csv", loss_log())
    change(confirmed, people, loss_curve_at_LLM=f"#{curve.pk}")
    apply(confirmed, people)
    baseline = Baseline.objects.get()
    assert (baseline.quantity, baseline.artifact, baseline.frozen_at) == ("loss_curve", curve, None)
    change(confirmed, people, gpu_type="A800，16 卡")
    apply(confirmed, people)
    assert Baseline.objects.get() == baseline
    drafts = Consequence.objects.filter(kind="baseline", result={})
    assert "latency_ms" in set(drafts.values_list("key", flat=True))


@pytest.mark.slow
def test_draft_baselines_prefill_the_form(confirmed, people, client):
    apply(confirmed, people)
    client.force_login(people[Role.CONSULTANT])
    drafts = client.get(reverse("surveys:consequences", args=["EP2501"])).context["drafts"]
    page = client.get(drafts[0]["url"])
    assert page.context["form"]["hardware"].value() == "说明"


@pytest.mark.slow
def test_a_draft_baseline_is_done_when_both_sides_confirmed_it(confirmed, people, client):
    apply(confirmed, people)
    client.force_login(people[Role.CONSULTANT])

    def state():
        found = client.get(f"/api/v1/surveys/{confirmed.pk}/draft_baselines/").json()
        return {row["state"] for row in found if row["model"] == "HLM" and "延" in row["label"]}

    assert state() == {"pending"}
    baseline = Baseline.objects.create(
        model=confirmed.engagement.models.get(code="HLM"), quantity="latency_ms", value=9)
    assert state() == {"submitted"}
    Baseline.objects.filter(pk=baseline.pk).update(frozen_at=timezone.now())
    assert state() == {"passed"}
    page = client.get(reverse("surveys:consequences", args=["EP2501"])).content.decode()
    assert reverse("assessments:baseline", args=[baseline.pk]) in page


@pytest.mark.slow
def test_risks_are_numbered_follow_the_answers_and_close(confirmed, people):
    apply(confirmed, people)
    risk = Risk.objects.get(pk=Consequence.objects.get(code="risk:custom_ops").result["risk"])
    assert (risk.probability, risk.impact) == (4, 4)
    assert risk.owner == people[Role.MANAGER]
    assert (risk.title, risk.title_en) == (
        "自定义 CUDA 算子需有对应实现（LLM）", "Custom CUDA operators need a counterpart (LLM)")
    assert risk.response_en == (
        "List them, and decide for each: replace, develop, run on the CPU.")
    change(confirmed, people, custom_ops_at_LLM="no")
    assert rows(confirmed)["risk:custom_ops"].status == "gone"
    apply(confirmed, people, "risk:custom_ops")
    risk.refresh_from_db()
    assert risk.state == Risk.State.CLOSED
    assert not Consequence.objects.filter(code="risk:custom_ops").exists()


@pytest.mark.slow
def test_drivers_feed_the_estimate(confirmed, people, engagement):
    without = days(draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement))
    engagement.estimates.all().delete()
    apply(confirmed, people)
    stated = dict(EffortDriver.objects.filter(model__code="LLM").values_list("code", "amount"))
    assert {code: int(amount) for code, amount in stated.items()} == {
        "custom_ops": 2, "own_code": 1, "libraries": 2, "cards": 16, "offline": 1}
    estimate = draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    after = days(estimate)
    assert after["LLM", "operators"] == 4
    assert after["LLM", "env"] == without["LLM", "env"] + 2 + 1  # a further server, no packages
    operators = estimate.lines.get(model__code="LLM", item="operators")
    assert "2" in operators.basis_sentences[0]
    change(confirmed, people, custom_ops_at_LLM="no")
    apply(confirmed, people)
    assert not EffortDriver.objects.filter(model__code="LLM", code="custom_ops").exists()


def days(estimate):
    return {(line.model.code, line.item): line.likely
            for line in estimate.lines.exclude(model=None).select_related("model")}


@pytest.mark.slow
def test_changed_answers_show_the_difference(confirmed, people):
    apply(confirmed, people)
    change(confirmed, people, sequence_at_LLM="4096")
    [row] = [row for row in rows(confirmed).values() if row.is_open]
    assert (row.status, row.code) == ("changed", "defaults:training@LLM")
    assert (" = 2048" in row.before, " = 4096" in row.after) == (True, True)


def test_what_is_applied_is_what_was_shown(confirmed, people, client):
    shown = rows(confirmed)["defaults:training@LLM"].token
    change(confirmed, people, sequence_at_LLM="4096")
    with pytest.raises(services.Overtaken):
        services.apply_consequences(actor=people[Role.MANAGER], survey=confirmed, tokens=[shown])
    assert not Consequence.objects.exists()


def test_only_managers_and_only_confirmed(confirmed, people, client):
    with pytest.raises(NotAllowed):
        services.apply_consequences(actor=people[Role.CONSULTANT], survey=confirmed)
    services.reopen_survey(actor=people[Role.CONSULTANT], survey=confirmed)
    with pytest.raises(WrongState):
        apply(confirmed, people)
    client.force_login(people[Role.REVIEWER])
    assert client.get(reverse("surveys:consequences", args=["EP2501"])).status_code == 403


@pytest.mark.slow
def test_the_page_takes_over_the_chosen_rows(confirmed, people, client):
    client.force_login(people[Role.MANAGER])
    place = reverse("surveys:consequences", args=["EP2501"])
    token = rows(confirmed)["fact:parameters@LLM"].token
    client.post(reverse("surveys:consequences_apply", args=["EP2501"]),
                {"token": token, "selected": "yes"})
    assert list(Consequence.objects.values_list("code", flat=True)) == ["fact:parameters@LLM"]
    shown = [row.token for row in client.get(place).context["open_rows"]]
    client.post(reverse("surveys:consequences_apply", args=["EP2501"]),
                {"shown": shown, "all": "yes"})
    assert client.get(place).context["open_rows"] == []


def test_a_decision_takes_over_what_was_shown_unless_it_is_a_no_go(confirmed, people, client):
    client.force_login(people[Role.MANAGER])
    place = reverse("surveys:consequences_decide", args=["EP2501"])
    sent = {"reason": "API 分析随后补齐", "take_over": "yes",
            "shown": [rows(confirmed)["fact:parameters@LLM"].token]}
    client.post(place, {**sent, "verdict": "no_go"})
    assert (confirmed.decisions.count(), Consequence.objects.count()) == (1, 0)
    client.post(place, {**sent, "verdict": "conditional"})
    assert (confirmed.decisions.count(), Consequence.objects.get().code) == (
        2, "fact:parameters@LLM")


def test_a_decision_without_reason_takes_nothing_over(confirmed, people):
    token = rows(confirmed)["fact:parameters@LLM"].token
    with pytest.raises(InvalidInput):
        decide(actor=people[Role.MANAGER], survey=confirmed, verdict="conditional", reason=" ",
               tokens=[token])
    assert not Consequence.objects.exists()


def test_an_odd_version_of_the_questions_has_no_wild_consequences(survey, people):
    """An administrator may ask for something else under a known key."""
    asked = survey.questionnaire.questions
    asked.filter(key__in=["train_cards", "deadline", "parameters", "repeats"]).update(
        type="text", is_required=False)
    asked.filter(key="model_scope").update(options=[
        {"code": "half", "label": "一半", "label_en": "half"}])
    actor = people[Role.CONSULTANT]
    saved = save_answers(actor=actor, survey=survey, changes=[
        Change("train_cards@LLM", "viele", 0), Change("deadline", "bald", 0),
        Change("parameters@LLM", "groß", 0), Change("model_scope@LLM", "half", 0)])
    assert not saved.errors
    assert "fact:deadline" not in rows(survey)


def test_query_count_does_not_grow_with_the_models(
        confirmed, people, client, django_assert_max_num_queries):
    from engagements.services import add_model

    client.force_login(people[Role.CONSULTANT])
    place = reverse("surveys:consequences", args=["EP2501"])
    with django_assert_max_num_queries(40) as few:
        client.get(place)
    for n in range(4):
        add_model(actor=people[Role.MANAGER], engagement=confirmed.engagement, code=f"X{n}",
                  name="x")
    with django_assert_max_num_queries(40) as many:
        client.get(place)
    assert len(few) == len(many)


def test_memory_of_bf16_is_named_where_the_source_platform_used_fp16(survey, people):
    """Seed S0: BF16 takes about 15 % more run-time memory than FP16."""
    model = survey.engagement.models.get(code="LLM")
    kind = kinds.get("adapt.megatron_train")
    values = kind.clean({**kind.example_parameters(), "precision": "bf16"})

    def hits():
        outcome = rule_checks.outcome_for(kind, values, None, model)
        return [hit.severity for hit in outcome.hits if hit.rule == "R-CFG-25"]

    assert hits() == []
    fill(survey, people[Role.CONSULTANT], **{"precision@LLM": "fp16"})
    assert hits() == ["info"]


@pytest.mark.parametrize(("question", "answer", "risk", "is_risk"), [
    ("mindie_image", "applied", "mindie_image", True),
    ("mindie_image", "downloaded", "mindie_image", False),
    ("mixed_way@LLM", "apex_o2", "apex", True), ("mixed_way@LLM", "amp", "apex", False)])
def test_state_of_the_image_and_the_way_of_mixed_precision_are_typed(
        survey, people, question, answer, risk, is_risk):
    fill(survey, people[Role.CONSULTANT], **{question: answer})
    given = CountedAnswers(Sheet(survey))
    key, _at, code = question.partition("@")
    model = survey.engagement.models.get(code=code) if code else None
    assert given.value(key, model) == answer
    risks = {row.key for row in compare(Sheet(survey)) if row.kind == "risk"}
    assert (risk in risks) is is_risk
