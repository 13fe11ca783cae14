"""One of everything that a page shows."""

from django.utils import timezone

from assessments.services import load_standard_definitions
from delivery.documents.services.issued_files import store_missing
from delivery.invoicing.models import Invoice
from delivery.planning.models import Milestone
from delivery.quotes import services as quotes
from delivery.quotes.models import FrameworkContract, PriceImport, QuoteAnswer, RateCard
from delivery.reports.services import add_deliverable, draft_test_report
from delivery.surveys.services import start_survey
from delivery.surveys.services.questionnaire_drafts import begin_draft
from engagements import services
from tests.page_routes import ADMIN, CONSULTANT, MANAGER, OPERATOR, REVIEWER, SALES


def planning_world(people, engagement) -> dict[str, list]:
    """One of everything of planning, and the arguments of its routes."""
    from datetime import date

    from django.utils import timezone

    from delivery.planning.services import changes, control, estimates, plans, weekly_reports

    day, code, manager = date(2025, 7, 1), engagement.code, people[MANAGER]
    common = {"actor": manager, "engagement": engagement}
    estimate = estimates.draft_estimate(**common)
    made = plans.draft_plan(starts_on=day, **common)
    risk = control.add_risk(title="r", probability=1, impact=1, owner=manager, review_on=day,
                            **common)
    issue = control.add_issue(description="i", level="minor", raised_on=day, due_on=day,
                              owner=manager, **common)
    meeting = control.record_meeting(topic="m", held_at=timezone.now(), chair="c",
                                     participants="p", **common)
    report = weekly_reports.draft_weekly(day=day, **common)
    change = changes.create_change(title="c", category="scope", requested_by="x", reason="x",
                                   before="x", after="x", **common)
    from delivery.planning.services import change_proposals, time_entries, timesheets

    proposal = change_proposals.raise_proposal(
        actor=people[REVIEWER], engagement=engagement, title="c", category="scope",
        description="d", reason="r")
    entry = time_entries.record_time(work_date=day, half="am", item="env", grade="engineer",
                                     **common)
    sheet = timesheets.confirm_month(month=day, **common)
    baseline = plans.take_baseline(actor=common["actor"], plan=made)
    store_missing(baseline, {"xlsx": lambda *_row: b"PK"}, action="plan_baseline.file")
    of_engagement = ("effort", "time", "timesheets", "time_new", "plan", "plan_file",
                     "task_new", "milestones", "planned_versions", "control", "risk_new",
                     "issue_new", "todo_new", "meeting_new", "changes", "change_new",
                     "proposal_new", "proposals",
                     "cooperation")
    rows = {"effort_line": estimate.lines.first(), "task": made.tasks.first(), "risk": risk,
            "issue": issue, "meeting": meeting, "meeting_edit": meeting, "weekly": report,
            "change": change, "change_edit": change,
            "proposal": proposal, "proposal_convert": proposal,
            "time_correct": entry, "timesheet": sheet}
    return {**{f"planning:{name}": [code] for name in of_engagement},
            **{f"planning:{name}": [row.pk] for name, row in rows.items()},
            "planning:pdf": ["minutes", meeting.pk, "en"],
            "planning:baseline_file": [baseline.pk, "en"],
            "planning:effort_line_new": [code, estimate.version]}


def world(people, engagement, settings, tmp_path):
    """An engagement with one of everything, and the arguments of every route."""
    from django.core.files.base import ContentFile

    from workers.artifacts.artifact_store import store_file
    from workers.models import Job, Node, NodeImport, NodeLogin, Runtime
    from workers.services.chains import save_chain, start_chain

    load_standard_definitions()
    card = quotes.load_rate_cards(actor=people[ADMIN])
    source = PriceImport.objects.create(name="x", valid_from="2025-01-01", rows=[["名称", "单价"]],
                                        created_by=people[SALES])
    model = services.add_model(actor=people[MANAGER], engagement=engagement, code="LLM",
                               name="模型")
    node = Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x", state="ready",
                               cards_total=8)
    login = NodeLogin.objects.create(node=node, engagement=engagement, username="x")
    runtime = Runtime.objects.create(name="CANN")
    inventory = NodeImport.objects.create(file_name="nodes.csv", created_by=people[OPERATOR])
    job = Job.objects.create(kind="env.npu_info", engagement=engagement, model=model, node=node)
    further = job.logs.create(name="train.log")
    artifact = store_file(stream=ContentFile(b"x"), name="a.txt", engagement=engagement)
    quote = quotes.create_quote(actor=people[SALES], engagement=engagement)
    line = quotes.add_line(actor=people[SALES], quote=quote, price=card.lines.first())
    scan = _scan(people[CONSULTANT], engagement)
    from assessments.models import Baseline, HumanEvaluation, MetricDefinition
    from assessments.services import add_criterion, draft_criteria

    chain = save_chain(actor=people[CONSULTANT], name="Probe", steps=[{"kind": "env.host_probe"}])
    [chain_run] = start_chain(actor=people[CONSULTANT], chain=chain, models=[model], node=node)
    draft = draft_criteria(actor=people[MANAGER], engagement=engagement)
    definition = MetricDefinition.objects.get(code="latency")
    criterion = add_criterion(actor=people[MANAGER], criteria_set=draft, model=model,
                              definition=definition, stage="infer_tune", threshold=10)
    baseline = Baseline.objects.create(model=model, quantity="latency_ms", value=10,
                                       artifact=artifact)
    rated = HumanEvaluation.objects.create(
        model=model, name="x", baseline_file=artifact, candidate_file=artifact, seed=1,
        items=[{"prompt": "p", "baseline": "a", "candidate": "b"}], recorded_by=people[CONSULTANT])
    document = draft_test_report(actor=people[MANAGER], engagement=engagement)
    owed = add_deliverable(actor=people[MANAGER], engagement=engagement, title="手册")
    from delivery.notices.services import create_channel

    channel = create_channel(actor=people[ADMIN], name="群", kind="wecom", kinds=[],
                             url="https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=k")
    attempt = channel.attempts.create(at=timezone.now(), is_ok=True)
    case = solved_case(people, job)
    code = engagement.code
    survey = start_survey(actor=people[CONSULTANT], engagement=engagement)
    begin_draft(actor=people[ADMIN])
    return {
        **planning_world(people, engagement),
        "workers:agents": [code],
        "portal:audit_entry": [engagement.audit_entries.order_by("pk").last().pk],
        "knowledge:case": [case.pk], "knowledge:case_edit": [case.pk],
        "portal:help_chapter": ["01-start"], "portal:help_picture": ["zh", "home"],
        "people:person": [people[CONSULTANT].pk], "people:tokens": [people[CONSULTANT].pk],
        "people:customer": [engagement.customer_id],
        "notices:channel": [channel.pk], "notices:channel_edit": [channel.pk],
        "notices:attempt": [attempt.pk],
        "planning:calendar_feed": ["desk_unknown"],
        "planning:person": [people[CONSULTANT].username],
        "surveys:overview": [code], "surveys:section": [code, "project"],
        "surveys:xlsx": [code, "en"], "surveys:upload": [code], "surveys:consequences": [code],
        "surveys:newer_version": [code],
        "surveys:version_file": [survey.questionnaire_id], "surveys:draft_question": ["need"],
        "reports:engagement": [code], "reports:document": [document.pk],
        "reports:problems": [document.pk],
        "acceptance:contract_terms": [code], "acceptance:powers_of_attorney": [code],
        "acceptance:third_party_reports": [code], "acceptance:warranty": [code],
        "acceptance:regression_runs": [code], "acceptance:blocker_waivers": [code],
        "agreement:agreement": [code],
        "reports:deliverables": [code], "reports:deliverable_new": [code],
        "reports:deliverable": [owed.pk], "reports:deliverable_proof": [owed.pk],
        "reports:progress": [document.pk], "reports:texts": [document.pk],
        "reports:standard_text": ["sow_change"], "reports:chain": ["TR"],
        "reports:branding": [engagement.customer_id],
        "engagements:engagement": [code], "engagements:edit": [code], "engagements:team": [code],
        "engagements:ending": [code], "engagements:model_new": [code],
        "engagements:model_edit": [code, "LLM"],
        "engagements:stage": [code, "LLM", "survey"],
        "engagements:stage_comments": [code, "LLM", "survey"],
        "engagements:cell_menu": [code, "LLM", "survey"],
        "workers:node": [node.pk], "workers:node_disk": [node.pk],
        "workers:job": [job.pk], "workers:job_log": [job.pk],
        "workers:job_log_lines": [job.pk],
        "workers:job_log_file": [job.pk], "workers:job_merged_log": [job.pk],
        "workers:runtime_new": ["host"], "workers:runtime": [runtime.pk],
        "workers:job_further_log": [job.pk, further.pk],
        "workers:job_further_log_file": [job.pk, further.pk],
        "workers:job_further_log_search": [job.pk, further.pk],
        "workers:job_archive": [job.pk], "workers:node_files": [node.pk],
        "workers:node_archive": [node.pk], "workers:job_log_search": [job.pk],
        "workers:import": [inventory.pk],
        "workers:node_edit": [node.pk], "workers:login_new": [node.pk],
        "workers:login_edit": [login.pk],
        "workers:kind": ["env.npu_info"], "workers:chain": [chain_run.chain_id],
        "workers:chain_run": [chain_run.pk], "workers:engagement_chains": [code],
        "workers:artifact": [artifact.pk], "workers:artifact_download": [artifact.pk],
        "workers:scan": [scan.pk], "workers:scan_patch": [scan.pk],
        "workers:api_routes": [model.pk],
        "assessments:criteria": [code], "assessments:criterion_new": [code],
        "assessments:criteria_ready_set": [code],
        "assessments:baseline_new": [code], "assessments:definition": [definition.pk],
        "assessments:criterion": [criterion.pk], "assessments:baseline": [baseline.pk],
        "assessments:accuracy": [code], "assessments:performance": [code],
        "assessments:human_evaluations": [code], "assessments:human_evaluation_new": [code],
        "assessments:human_evaluation": [rated.pk],
        "assessments:human_evaluation_sheet": [rated.pk],
        "assessments:training_runs": [model.pk], "assessments:training_run_comparison": [model.pk],
        "assessments:model_performance": [model.pk], "assessments:round_new": [model.pk],
        "assessments:definition_new": [definition.pk],
        "quotes:engagement": [code],
        "quotes:quote": [quote.pk], "quotes:terms": [quote.pk], "quotes:copy": [quote.pk],
        "quotes:pdf": [quote.pk, "en"], "quotes:xlsx": [quote.pk, "zh-hans"],
        "quotes:compare": [quote.pk, quote.pk], "quotes:payment": [quote.pk],
        "quotes:conditions": [quote.pk], "quotes:line_new": [quote.pk],
        "quotes:line_edit": [quote.pk, line.pk], "quotes:rate_card": [card.pk],
        "quotes:import": [source.pk], "quotes:answer_new": [quote.pk],
        **invoiced(people[SALES], engagement, quote),
    }


def invoiced(actor, engagement, quote) -> dict:
    """Addresses of a recorded answer, of an invoice and of a framework contract."""
    from django.core.files.base import ContentFile

    stored = ContentFile(b"x", name="x.pdf")
    answer = QuoteAnswer.objects.create(
        quote=quote, is_accepted=True, way="paper", given_on=quote.quote_date, given_by="x",
        file=stored, file_name="x.pdf", recorded_by=actor)
    milestone = Milestone.objects.filter(plan__engagement=engagement).first() or (
        Milestone.objects.create(plan=engagement.plan, name="x", percent=100, trigger="FA"))
    invoice = Invoice.objects.create(
        engagement=engagement, milestone=milestone, number="1", issued_on=quote.quote_date,
        due_on=quote.quote_date, amount=1, currency="CNY", created_by=actor)
    framework = FrameworkContract.objects.create(
        customer=engagement.customer, number="FC-1", name="x", valid_from=quote.quote_date,
        card=RateCard.objects.first(), ceiling=1, created_by=actor)
    return {"quotes:answer_file": [answer.pk], "quotes:framework": [framework.pk],
            "invoicing:invoice_new": [milestone.pk], "invoicing:credit_new": [invoice.pk],
            "invoicing:payment_new": [invoice.pk]}


def solved_case(people, job):
    """A case of a failed job."""
    from delivery.knowledge.services.cases import add_case
    from workers.models import Job, JobState

    failed = Job.objects.create(kind=job.kind, engagement=job.engagement, node=job.node,
                                state=JobState.FAILED, finished_at=timezone.now())
    return add_case(actor=people[CONSULTANT], title="x", cause="x", cure="x", error_code="EI0002",
                    job=failed)


def _scan(actor, engagement):
    """A scan of a source archive with one file."""
    import io
    import zipfile

    from django.core.files.uploadedfile import SimpleUploadedFile

    from workers.services.scans import scan_upload

    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("train.py", "import torch\n")
    return scan_upload(actor=actor, engagement=engagement,
                       upload=SimpleUploadedFile("s.zip", packed.getvalue()))
