"""At least one row of every table that the audit log tracks, each by its service."""

import io
from datetime import date, timedelta
from decimal import Decimal

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from assessments import services as assessing
from assessments.models import Baseline, Criterion, MetricDefinition
from assessments.services.allowlist import propose_difference
from assessments.services.baselines import add_run
from assessments.services.waivers import draft_waiver, sign_waiver
from delivery.acceptance import services
from delivery.acceptance.review.deliverables import deliverables_of
from delivery.acceptance.services.regression_runs import start_regression
from delivery.agreement.services import draft_agreement
from delivery.documents.services.branding import save_branding
from delivery.documents.services.issued_files import store_missing
from delivery.documents.services.staff_certificates import add_certificate
from delivery.evidence.services import build_bundle
from delivery.invoicing import services as invoicing
from delivery.invoicing.models import Invoice
from delivery.knowledge.services.cases import add_case
from delivery.notices.services import channels, set_preferences
from delivery.notices.services.inbox import set_mail_setting
from delivery.operation.backup.stored_files import STORED, StoredFile
from delivery.operation.stored_file_checks import Check, note
from delivery.planning.services import (
    added_criteria,
    calendar_days,
    change_drafts,
    change_proposals,
    changes,
    control,
    effort_drivers,
    estimates,
    plans,
    scope_effects,
    time_entries,
    timesheets,
    weekly_reports,
)
from delivery.planning.services import people as staffing
from delivery.planning.services.planned_versions import set_planned_versions
from delivery.portal.portfolio.saved_views import save_view
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine, Quote, RateCard
from delivery.reports import services as reporting
from delivery.surveys import services as surveying
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import compare
from delivery.surveys.services import questionnaire_drafts
from engagements import services as engagement_services
from engagements.models import Role, StageRecord, User
from engagements.services.agents import create_agent
from tests.assessments.conftest import log
from tests.assessments.test_human_evaluation import lines, prefers, rate
from tests.delivery.acceptance.test_scan_validation import picture
from tests.delivery.conftest import loss_log, measure, stored
from tests.delivery.planning.conftest import WORDS
from tests.delivery.quotes.test_imports import HEAD, workbook
from tests.delivery.surveys.conftest import confirm, fill
from workers import kinds
from workers.models import Job, JobState, Node
from workers.services import (
    chains,
    jobs,
    node_calendar,
    node_imports,
    node_logins,
    record_routes,
    runtimes,
)
from workers.services.job_templates import save_template

DAY = date(2025, 9, 22)
PLAIN_TEXT = {"pdf": lambda row, language: f"{row} {language}".encode()}


def write_everything(engagement, act, people):
    # a kind that the accepted runs can be repeated by
    Job.objects.filter(engagement=engagement).update(kind="env.host_probe", parameters={})
    draft_agreement(actor=people[Role.MANAGER], engagement=engagement)
    state_in_criteria(engagement, people)
    pass_a_gate(engagement, people)
    choose_words_and_messages(engagement, people)
    agree_and_plan(engagement, people)
    staff(people)
    steer(engagement, people)
    ask_and_answer(engagement, people)
    review_and_sign(engagement, act)
    run_on_a_node(engagement, people)  # a review waits for the end of jobs


def run_on_a_node(engagement, people):
    """A log-in of the engagement, a chain of jobs, a route of an API, a round of tuning."""
    model, node = engagement.models.get(code="LLM"), Node.objects.get()
    start_regression(actor=people[Role.CONSULTANT], model=model, node=node,
                     release="CANN 8.2.RC1")
    node_logins.add_login(actor=people[Role.OPERATOR], node=node, engagement=engagement,
                          username="customer")
    chain = chains.save_chain(actor=people[Role.CONSULTANT], name="survey", steps=[
        {"kind": "survey.pt_analyse", "parameters": {"source": "~/data/inspect_net"}}])
    chains.start_chain(actor=people[Role.CONSULTANT], chain=chain, models=[model], node=node)
    stored(engagement, model, "unsupported_api.csv",
           b"File,Start Line,End Line,OP,Tips\na.py,1,1,torch.f,NA\n")
    record_routes(actor=people[Role.CONSULTANT], model=model, apis=["torch.f"], route="replace",
                  reason="torch.g does the same")
    share_nodes(engagement, people, model, node)
    dump = stored(engagement, model, "dump.json", b"{}")
    jobs.queue_job(actor=people[Role.CONSULTANT], kind="acc.compare", model=model, node=node,
                   parameters={"target": f"desk:file/{dump.pk}", "golden": "~/dump.json"})
    assessing.record_round(actor=people[Role.CONSULTANT], model=model,
                           artifact=stored(engagement, model, "500.log", log(500)))
    answers = [stored(engagement, model, f"{side}.jsonl", lines(side)) for side in ("GPU", "NPU")]
    rate(people, assessing.start_evaluation(
        actor=people[Role.CONSULTANT], model=model, name="对话质量", baseline_file=answers[0],
        candidate_file=answers[1]), "评审甲", prefers("NPU"))
    failed = Job.objects.filter(engagement=engagement, state=JobState.FAILED).first()
    add_case(actor=people[Role.CONSULTANT], title="通信超时", cause="各卡时钟不一致",
             cure="先校时", error_code="EI0002", job=failed)


def share_nodes(engagement, people, model, node):
    """A job on two nodes, a reservation, a quota, an inventory."""
    operator, tomorrow = people[Role.OPERATOR], timezone.now() + timedelta(days=1)
    other = Node.objects.create(name="other", host="192.0.2.9", username="npu", state="ready",
                                is_practice=node.is_practice, cards_total=8)
    kind = kinds.get("adapt.megatron_train")
    jobs.queue_job(actor=people[Role.CONSULTANT], kind=kind.code, model=model,
                   parameters=kind.example_parameters(), nodes=[node, other])
    node_calendar.reserve(actor=operator, node=node, engagement=engagement, cards=1,
                          starts_at=tomorrow, ends_at=tomorrow + timedelta(days=1), reason="窗口")
    node_calendar.set_quota(actor=operator, engagement=engagement, cards=8)
    runtimes.choose_runtime(actor=operator, node=other, runtime=runtimes.save_runtime(
        actor=operator, name="CANN 8.2", place="host", options={"umask": "027"}))
    save_template(actor=operator, name="训练", kind=kind.code)
    node_imports.start_import(actor=operator, upload=io.BytesIO(b"name,host\nn1,192.0.2.10\n"),
                              file_name="nodes.csv", username="npu")


def choose_words_and_messages(engagement, people):
    administrator, consultant = people[Role.ADMINISTRATOR], people[Role.CONSULTANT]
    save_view(actor=administrator, name="late", query="late=1")
    reporting.save_chain(actor=administrator, kind="TR", steps=[
        {"action": "review", "title": "审核"}, {"action": "approve", "title": "批准"}])
    engagement_services.set_people(actor=administrator, kind="quote", people="reviewer_approves")
    engagement_services.create_token(actor=consultant, owner=consultant, name="script")
    create_agent(actor=consultant, engagement=engagement, name="Adapter")
    save_branding(actor=administrator, customer=None, confidentiality_zh="内部资料",
                  logo=picture())
    reporting.add_deliverable(actor=people[Role.MANAGER], engagement=engagement, title="手册")
    reporting.save_standard_text(actor=administrator, code="as_method", zh="目的", en="Purpose")
    channels.create_channel(actor=administrator, name="群", kind="wecom",
                            url="https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x")
    set_preferences(actor=consultant, engagement=engagement,
                    choices={"job_failed": {"in_inbox": False, "email": "now"}})
    set_mail_setting(actor=consultant, language="en")
    add_certificate(actor=consultant, person=consultant, kind="hcip", number="HW-1")
    engagement_services.comment_on_stage(
        actor=consultant, text="x",
        record=StageRecord.objects.filter(model__engagement=engagement).first())
    engagement_services.assign_stages(
        actor=people[Role.MANAGER], person=consultant,
        records=StageRecord.objects.filter(model__engagement=engagement)[:1])
    questionnaire_drafts.begin_draft(actor=administrator)
    note(Check(StoredFile(STORED, "sha256/00/gone"), 0, "missing"), now=timezone.now())


def steer(engagement, people):
    """Effort, risks, issues, a meeting, the week, and what a grade costs."""
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    common = {"actor": manager, "engagement": engagement}
    effort_drivers.set_driver(actor=consultant, model=engagement.models.get(code="LLM"),
                              code="custom_ops", amount=Decimal(3))
    estimates.draft_estimate(**common)
    set_planned_versions(**common, versions={"cann": "8.0.RC3"})
    control.add_risk(**common, title="显存不足", probability=3, impact=4, owner=consultant,
                     review_on=DAY)
    control.add_issue(**common, description="精度差 0.3 %", level="major", raised_on=DAY,
                      owner=consultant, due_on=DAY + timedelta(days=4))
    control.record_meeting(
        **common, topic="启动会", held_at=timezone.now(), chair="陈国栋", participants="双方",
        attachments=[engagement.artifacts.first()],
        todos=[{"text": "提供数据", "owner": consultant, "due_on": DAY}])
    week = weekly_reports.draft_weekly(**common, day=DAY)
    store_missing(week, PLAIN_TEXT, action="weekly.file", state="frozen", as_of=timezone.now())
    time_entries.set_grade_cost(actor=manager, grade="senior", day_cost=Decimal(2000))
    calendar_days.set_calendar_days(actor=manager, first=DAY, is_worked=False)


def agree_and_plan(engagement, people):
    """A quote, a month of time, and a change that touches everything there is."""
    manager, consultant, sales = people[Role.MANAGER], people[Role.CONSULTANT], people[Role.SALES]
    model = engagement.models.get(code="LLM")
    quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    quote = quoting.create_quote(actor=sales, engagement=engagement)
    price = PriceLine.objects.get(code="S-PM")
    quoting.add_line(actor=sales, quote=quote, price=price, quantity=Decimal(5))
    store_missing(quote, PLAIN_TEXT, action="quote.file")
    sheet = workbook([HEAD, ["云服务器", "8 卡", 1, 40000.0]])
    quoting.start_import(actor=sales, upload=io.BytesIO(sheet), file_name="清单.xlsx",
                         name="清单 2025", valid_from=date(2025, 1, 1))
    made = plans.draft_plan(actor=manager, engagement=engagement, starts_on=DAY)
    store_missing(plans.take_baseline(actor=manager, plan=made), PLAIN_TEXT,
                  action="plan_baseline.file")
    plans.set_milestones(actor=manager, plan=made, rows=[
        {"name": "终验", "percent": Decimal(100), "trigger": "FA"}])
    invoice_and_answer(engagement, people, made.milestones.get())
    change_proposals.raise_proposal(actor=people[Role.REVIEWER], engagement=engagement, title="x",
                                    category="scope", description="x", reason="x")
    change = changes.create_change(actor=consultant, engagement=engagement, quote=quote, **WORDS)
    scope_effects.set_scope_effect(actor=consultant, change=change, action="add_model", code="OCR",
                                   name="文字识别", scope="inference")
    added_criteria.add_criterion(
        actor=consultant, change=change, code="OCR", stage="infer_tune", threshold=Decimal(25),
        definition=MetricDefinition.objects.get(code="latency", version=1))
    change_drafts.set_schedule_effect(actor=consultant, change=change, days_after=3,
                                      task=made.tasks.first())
    change_drafts.set_criterion_effect(actor=consultant, change=change,
                                       threshold_after=Decimal("0.03"),
                                 criterion=Criterion.objects.filter(model=model).first())
    change_drafts.set_price_effect(actor=consultant, change=change, action="add", price=price,
                                   quantity=Decimal(2))
    time_entries.record_time(actor=consultant, engagement=engagement, half="am", model=model,
                             work_date=DAY, item="adapt", grade="senior")
    sheet = timesheets.confirm_month(actor=manager, engagement=engagement,
                                     month=date(2025, 9, 30))
    store_missing(sheet, PLAIN_TEXT, action="timesheet.file", **sheet.edition)
    store_missing(change, PLAIN_TEXT, action="change.file", state="submitted", as_of=timezone.now())


def staff(people):
    """Who is away, who knows what, and the firm's lowest margin."""
    manager = people[Role.MANAGER]
    staffing.add_absence(actor=manager, first=DAY)
    staffing.set_skill(actor=manager, name="PMP", certificate="001")
    staffing.set_margin_floor(actor=manager, percent=Decimal(20))


def invoice_and_answer(engagement, people, milestone):
    """An answer from outside the portal to an offer that is revoked then; an invoice, partly
    paid."""
    sales = people[Role.SALES]
    offer = quoting.create_quote(actor=sales, engagement=engagement)
    Quote.objects.filter(pk=offer.pk).update(state=Quote.State.ISSUED, issued_at=timezone.now())
    quoting.record_answer(actor=sales, quote=offer, is_accepted=False, way="call",
                          given_on=timezone.localdate(), given_by="王总", reason="预算")
    quoting.move_quote(actor=sales, quote=offer, move="revoke", reason="价格有误")
    quoting.add_framework(actor=sales, customer=engagement.customer, number="FC-1", name="框架",
                          valid_from=DAY, card=RateCard.objects.first())
    invoice = Invoice.objects.create(
        engagement=engagement, milestone=milestone, number="2026-001", issued_on=DAY, due_on=DAY,
        amount=Decimal(100), currency="CNY", created_by=sales)
    invoicing.add_payment(actor=sales, invoice=invoice, paid_on=DAY, amount=Decimal(40))


def ask_and_answer(engagement, people):
    survey = surveying.start_survey(actor=people[Role.CONSULTANT], engagement=engagement)
    fill(survey, people[Role.CONSULTANT])
    surveying.add_comment(actor=people[Role.REVIEWER], survey=survey, name="need", text="见合同")
    confirm(survey, people)
    follows = [row.token for row in compare(Sheet(survey)) if row.is_open][:2]
    surveying.decide(actor=people[Role.MANAGER], survey=survey, verdict="conditional",
                     reason="可以启动")
    surveying.apply_consequences(actor=people[Role.MANAGER], survey=survey, tokens=follows)


def state_in_criteria(engagement, people):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    measure(engagement, people, engagement.models.get(code="PSR"), scale=1.05)
    waived = Criterion.objects.get(verdicts__outcome="failed")
    sign_waiver(actor=manager, waiver=draft_waiver(
        actor=consultant, criterion=waived, reason="客户同意", scope="仅试运行",
        expires_on=date(2999, 1, 1)))
    propose_difference(actor=consultant, engagement=engagement, sheet="env", item="HCCL_ALGO",
                       reason="只在昇腾上存在")
    repeat = stored(engagement, waived.model, "gpu/repeat.csv", loss_log(scale=1.0001))
    add_run(actor=consultant, baseline=Baseline.objects.filter(model=waived.model).first(),
            artifact=repeat)
    draft = assessing.draft_criteria(actor=manager, engagement=engagement)
    assessing.confirm_criteria(actor=manager, criteria_set=draft)


def pass_a_gate(engagement, people):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    record = StageRecord.objects.filter(model__engagement=engagement, stage="survey").first()
    for move in ("start", "submit"):
        engagement_services.move_stage(actor=consultant, record=record, move=move)
    engagement_services.draft_stage_waiver(actor=manager, record=record, reason="客户要求先行")


def review_and_sign(engagement, act):
    manager = act.manager
    services.set_terms(actor=manager, engagement=engagement, review_days=5, warranty_months=12)
    services.attach_third_party_report(
        actor=manager, engagement=engagement, laboratory="软件评测中心", report_number="R-1",
        issued_on=date(2025, 6, 1), scope="功能", cnas_number="L1234",
        file=SimpleUploadedFile("report.png", picture()))
    services.record_power_of_attorney(
        actor=manager, engagement=engagement, user=act.reviewer, capacity="主任",
        granted_by="总经理", valid_from=date(2025, 1, 1),
        file=SimpleUploadedFile("power.png", picture()))
    services.attach_third_party_report(
        actor=manager, engagement=engagement, laboratory="检测中心", cnas_number="L1234",
        report_number="NT-1", issued_on=date(2025, 8, 1), scope="时延",
        file=SimpleUploadedFile("report.png", picture()))
    issue = control.add_issue(
        actor=manager, engagement=engagement, description="文档待补", level="blocking",
        owner=manager, raised_on=timezone.localdate(), due_on=timezone.localdate())
    services.draft_blocker_waiver(actor=manager, engagement=engagement, reason="客户同意")
    engagement_services.delegate_duties(
        actor=manager, delegate=User.objects.exclude(pk=manager.pk).get(role=Role.CONSULTANT),
        starts_on=timezone.localdate(), ends_on=timezone.localdate())
    control.update_issue(actor=manager, issue=issue, closed_on=timezone.localdate())
    review = act.open(engagement)
    services.record_notice(actor=manager, review=review, channel="hand", addressee="陈国栋",
                           reference="1", delivered_on=timezone.localdate())
    services.name_signers(actor=manager, review=review, users=[act.reviewer])
    services.comment(actor=act.reviewer, review=review, text="为什么有尖峰？" * 20)
    services.confirm_receipt(actor=act.reviewer, review=review,
                             keys=[deliverables_of(review, "en")[0].key])
    act.decide(review, "conditional", conditions=[
        {"description": "补充手册", "owner": "周启明",
         "due_on": timezone.localdate() + timedelta(days=9)}])
    act.sign_and_seal(review)
    services.raise_claim(actor=act.reviewer, engagement=engagement, description="偶发为空",
                         found_on=timezone.localdate())
    build_bundle(actor=manager, engagement=engagement, document=review.document)
