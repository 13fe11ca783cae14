"""One table: every page route, every role, the expected status. A missing route fails."""

import contextlib
import itertools
from dataclasses import replace

import pytest
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from assessments.services import load_standard_definitions
from delivery.documents.services.issued_files import store_missing
from delivery.planning.document_files import KINDS
from delivery.quotes import quote_files
from delivery.quotes import services as quotes
from delivery.quotes.models import PriceImport
from delivery.reports.services import add_deliverable, draft_test_report
from delivery.surveys.services import start_survey
from delivery.surveys.services.questionnaire_drafts import begin_draft
from engagements import services
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture

OURS = ("people", "portal", "operation", "engagements", "workers", "assessments", "documents",
        "quotes", "reports", "acceptance", "evidence", "planning", "notices", "surveys",
        "practice", "knowledge", "undo")
ADMIN, MANAGER, CONSULTANT, SALES, OPERATOR, REVIEWER = Role.values
EVERYBODY = frozenset(Role.values)
FIRM = EVERYBODY - {REVIEWER}
MANAGERS = frozenset({ADMIN, MANAGER})
WORKERS = frozenset({ADMIN, MANAGER, CONSULTANT})
REVIEWERS = frozenset({REVIEWER})
PRICERS = frozenset({ADMIN, MANAGER, SALES})

# Routes that answer GET: who gets 200. Everybody else gets 403 or 404.
READ = {
    "portal:home": EVERYBODY, "portal:search": EVERYBODY, "people:password": EVERYBODY,
    "portal:audit": MANAGERS, "practice:practice": frozenset({ADMIN}),
    "practice:progress": EVERYBODY, "portal:portfolio": FIRM, "portal:portfolio_charts": FIRM,
    "portal:portfolio_export": FIRM, "portal:help": EVERYBODY, "portal:help_chapter": EVERYBODY,
    "portal:help_picture": EVERYBODY,
    "operation:alive": EVERYBODY, "operation:ready": EVERYBODY,
    "operation:metrics": frozenset(),  # for whoever holds the token
    "planning:calendar_feed": frozenset(),  # for whoever holds the address
    "operation:operation": frozenset({ADMIN, OPERATOR}),
    "operation:files": frozenset({ADMIN, OPERATOR}),
    "portal:gallery": frozenset(),  # only while developing
    "engagements:list": EVERYBODY, "engagements:new": MANAGERS,
    "engagements:engagement": EVERYBODY, "engagements:edit": MANAGERS, "engagements:team": FIRM,
    "engagements:model_new": MANAGERS, "engagements:model_edit": MANAGERS,
    "engagements:stage": EVERYBODY, "engagements:stage_comments": WORKERS,
    "engagements:cell_menu": FIRM,
    "workers:nodes": FIRM, "workers:node_new": frozenset({ADMIN, OPERATOR}), "workers:node": FIRM,
    "workers:node_edit": frozenset({ADMIN, OPERATOR}),
    "workers:calendar": FIRM, "workers:runtimes": FIRM,
    "workers:runtime_new": frozenset({ADMIN, OPERATOR}),
    "workers:runtime": frozenset({ADMIN, OPERATOR}),
    "workers:import_new": frozenset({ADMIN, OPERATOR}),
    "workers:import": frozenset({ADMIN, OPERATOR}),
    "workers:login_new": frozenset({ADMIN, OPERATOR}),
    "workers:login_edit": frozenset({ADMIN, OPERATOR}), "workers:queue": FIRM,
    "workers:jobs": FIRM, "workers:job": EVERYBODY, "workers:job_log": EVERYBODY,
    "workers:job_log_lines": EVERYBODY,
    "workers:job_log_file": EVERYBODY, "workers:job_merged_log": EVERYBODY,
    "workers:job_log_search": EVERYBODY, "workers:job_further_log": EVERYBODY,
    "workers:job_further_log_file": EVERYBODY, "workers:job_further_log_search": EVERYBODY,
    "workers:job_new": frozenset({ADMIN, OPERATOR}),
    "workers:choose_files": frozenset({ADMIN, OPERATOR}), "workers:node_files": FIRM,
    "workers:node_archive": frozenset(), "workers:job_archive": frozenset(),
    "workers:catalogue": FIRM, "workers:kind": FIRM, "workers:chains": FIRM,
    "workers:job_templates": FIRM,
    "workers:chain_new": WORKERS, "workers:chain": FIRM, "workers:chain_run": FIRM,
    "workers:engagement_chains": FIRM,
    "workers:artifact": EVERYBODY, "workers:artifact_download": EVERYBODY,
    "workers:artifact_upload": WORKERS, "workers:api_routes": EVERYBODY,
    "workers:rules": FIRM, "workers:scans": FIRM, "workers:scan": FIRM,
    "workers:scan_new": WORKERS, "workers:scan_patch": FIRM,
    "assessments:criteria": EVERYBODY, "assessments:criterion_new": MANAGERS,
    "assessments:baseline_new": WORKERS, "assessments:definitions": EVERYBODY,
    "assessments:definition": EVERYBODY, "assessments:criterion": EVERYBODY,
    "assessments:definition_preview": EVERYBODY, "assessments:baseline": EVERYBODY,
    "assessments:accuracy": EVERYBODY, "assessments:performance": EVERYBODY,
    "assessments:human_evaluations": EVERYBODY, "assessments:human_evaluation": EVERYBODY,
    "assessments:human_evaluation_sheet": EVERYBODY,
    "assessments:human_evaluation_new": WORKERS,
    "assessments:model_performance": EVERYBODY, "assessments:round_new": WORKERS,
    "assessments:definition_new": MANAGERS,
    "quotes:list": EVERYBODY, "quotes:rate_cards": FIRM, "quotes:engagement": EVERYBODY,
    "quotes:quote": FIRM, "quotes:terms": PRICERS, "quotes:copy": PRICERS,
    "quotes:pdf": FIRM, "quotes:xlsx": FIRM, "quotes:compare": FIRM,
    "quotes:payment": PRICERS, "quotes:conditions": PRICERS, "quotes:line_new": PRICERS,
    "quotes:line_edit": PRICERS, "quotes:rate_card": FIRM, "quotes:import_new": PRICERS,
    "quotes:import": PRICERS, "quotes:discount_limits": frozenset({ADMIN}),
    "documents:company": MANAGERS, "documents:certificates": FIRM,
    "planning:board": FIRM, "planning:effort": FIRM, "planning:effort_line": WORKERS,
    "planning:effort_line_new": WORKERS, "planning:time": FIRM, "planning:time_new": WORKERS,
    "planning:time_correct": WORKERS, "planning:timesheets": EVERYBODY,
    "planning:timesheet": EVERYBODY,
    "planning:costs": MANAGERS, "planning:plan": EVERYBODY, "planning:plan_file": EVERYBODY,
    "planning:baseline_file": EVERYBODY,
    "planning:task": MANAGERS, "planning:task_new": MANAGERS, "planning:milestones": MANAGERS,
    "planning:planned_versions": WORKERS,
    "planning:control": FIRM, "planning:risk": WORKERS, "planning:risk_new": WORKERS,
    "planning:issue": WORKERS, "planning:issue_new": WORKERS, "planning:todo_new": WORKERS,
    "planning:meeting": FIRM, "planning:meeting_new": WORKERS, "planning:meeting_edit": WORKERS,
    "planning:weekly": FIRM, "planning:cooperation": EVERYBODY,
    "planning:changes": EVERYBODY, "planning:change": FIRM, "planning:change_new": WORKERS,
    "planning:change_edit": WORKERS, "planning:proposal_new": REVIEWERS,
    "planning:proposals": EVERYBODY,
    "planning:proposal": EVERYBODY, "planning:proposal_convert": WORKERS,
    "planning:pdf": FIRM,
    "acceptance:contract_terms": MANAGERS, "acceptance:powers_of_attorney": EVERYBODY,
    "acceptance:third_party_reports": EVERYBODY, "acceptance:warranty": EVERYBODY,
    "acceptance:regression_runs": EVERYBODY,
    "acceptance:verify": EVERYBODY,
    "knowledge:figures": FIRM, "knowledge:cases": FIRM, "knowledge:case": FIRM,
    "knowledge:case_edit": WORKERS,
    "reports:list": EVERYBODY, "reports:engagement": EVERYBODY, "reports:document": FIRM,
    "reports:deliverables": EVERYBODY, "reports:deliverable_new": MANAGERS,
    "reports:deliverable": MANAGERS, "reports:deliverable_proof": WORKERS,
    "reports:progress": FIRM, "reports:texts": MANAGERS, "reports:standard_texts": MANAGERS,
    "reports:standard_text": MANAGERS, "reports:chains": frozenset({ADMIN}),
    "reports:chain": frozenset({ADMIN}),
    "reports:branding_list": frozenset({ADMIN}), "reports:branding_firm": frozenset({ADMIN}),
    "reports:branding": frozenset({ADMIN}),
    "notices:inbox": EVERYBODY, "notices:preferences": EVERYBODY, "notices:channels": MANAGERS,
    "notices:channel_new": MANAGERS, "notices:channel": MANAGERS,
    "notices:channel_edit": MANAGERS, "notices:mails": MANAGERS, "notices:attempt": MANAGERS,
    "surveys:overview": EVERYBODY, "surveys:section": EVERYBODY,
    "surveys:xlsx": EVERYBODY, "surveys:upload": WORKERS | {REVIEWER},
    "surveys:consequences": FIRM, "surveys:newer_version": WORKERS,
    "surveys:versions": frozenset({ADMIN}), "surveys:version_file": frozenset({ADMIN}),
    "surveys:draft": frozenset({ADMIN}), "surveys:draft_question": frozenset({ADMIN}),
    "surveys:draft_question_new": frozenset({ADMIN}),
    "people:list": frozenset({ADMIN}), "people:new": frozenset({ADMIN}),
    "portal:invite": frozenset({ADMIN}), "portal:invite_list": frozenset({ADMIN}),
    "people:person": frozenset({ADMIN}), "people:duties": frozenset({ADMIN}),
    "people:own_tokens": EVERYBODY, "people:sign_ins": EVERYBODY,
    "people:tokens": frozenset({ADMIN}), "portal:password_link": EVERYBODY,
    "people:customers": FIRM, "people:customer": MANAGERS | {SALES},
}
# Answers without a log-in.
PUBLIC = {"acceptance:verify", "portal:password_link", "operation:alive", "operation:ready"}
# Routes that only take POST; their services are tested for permissions elsewhere.
WRITE = {
    "undo:undo", "portal:view_save", "portal:view_delete", "portal:invite_again",
    "engagements:member_remove", "engagements:assign", "engagements:stage_move",
    "engagements:item_tick", "engagements:comment",
    "engagements:waiver_draft", "engagements:waiver_end",
    "workers:node_confirm", "workers:node_refetch", "workers:node_maintenance",
    "workers:import_apply", "workers:import_discard", "workers:import_accept",
    "workers:import_again", "workers:reservation_end", "workers:quota_set",
    "workers:runtime_retire", "workers:runtime_choice_new", "workers:runtime_choice_end",
    "workers:node_install_key",
    "workers:node_check", "workers:node_try", "workers:login_try", "workers:login_withdraw",
    "workers:artifact_read_again", "workers:job_cancel", "workers:job_retry",
    "workers:job_template_rename", "workers:job_template_delete",
    "workers:chain_start", "workers:chain_resume", "workers:engagement_chain_start",
    "assessments:criteria_draft", "assessments:criteria_sign", "assessments:criteria_judge",
    "assessments:criterion_judge", "assessments:criterion_measure",
    "assessments:criteria_confirm", "assessments:criterion_waive", "assessments:waiver_revoke",
    "assessments:waiver_sign",
    "assessments:criterion_accept", "assessments:baseline_confirm", "assessments:baseline_run",
    "assessments:baseline_explain",
    "assessments:comparison_index", "assessments:config_propose", "assessments:config_review",
    "assessments:config_withdraw", "assessments:round_keep", "assessments:round_remove",
    "assessments:human_evaluation_rate", "assessments:human_evaluation_conclude",
    "assessments:human_rating_remove",
    "assessments:criterion_remove", "quotes:new", "quotes:line_add", "quotes:resources_add",
    "quotes:line_remove", "quotes:version_new", "quotes:move", "quotes:rate_card_close",
    "quotes:import_confirm", "quotes:import_discard",
    "acceptance:claim_repair", "acceptance:claim_close",
    "knowledge:case_retire", "knowledge:case_restore", "knowledge:case_evidence",
    "reports:deliverables_agreed", "reports:deliverable_reopen",
    "reports:draft", "reports:issue", "reports:refresh", "reports:discard", "reports:correct",
    "reports:submit", "reports:review", "reports:send_back", "reports:recall",
    "people:token_revoke", "people:sign_ins_end", "people:sign_in_end",
    "people:duty_set", "documents:certificate_remove",
    "reports:hand_over", "reports:co_sign", "reports:chain_reset",
    "reports:withdraw", "reports:repeat", "reports:preview_order", "reports:standard_text_preview",
    "reports:standard_text_reset", "reports:preview_firm", "reports:preview_customer",
    "acceptance:open", "acceptance:comment", "acceptance:decide", "acceptance:sign",
    "evidence:bundle_build", "acceptance:identify", "acceptance:decline", "acceptance:signers",
    "acceptance:notice", "acceptance:deemed", "acceptance:condition_report",
    "acceptance:condition_close", "acceptance:receipt", "acceptance:comment_resolve",
    "acceptance:power_of_attorney_end", "acceptance:third_party_report_withdraw",
    "planning:board_move", "planning:effort_draft", "planning:effort_quote",
    "planning:effort_approve",
    "planning:time_remove",
    "planning:timesheet_submit", "planning:timesheet_answer",
    "planning:timesheet_withdraw",
    "planning:plan_baseline", "planning:task_link", "planning:task_unlink",
    "planning:task_remove", "planning:todo_done", "planning:minutes_share",
    "planning:minutes_confirm", "planning:weekly_draft",
    "planning:weekly_refresh", "planning:weekly_freeze", "planning:change_effect",
    "planning:change_effect_remove", "planning:change_price_scope", "planning:change_move",
    "planning:proposal_move",
    "notices:open", "notices:all_read", "notices:channel_switch", "notices:channel_test",
    "notices:again", "notices:channel_rotate", "notices:channel_replay",
    "surveys:start", "surveys:move", "surveys:comment", "surveys:upload_apply",
    "surveys:consequences_apply", "surveys:consequences_decide",
    "surveys:draft_begin", "surveys:draft_edit", "surveys:draft_end",
    "surveys:version_new",
}
# Charts and files of issued documents: they need measured or issued things, and are tested
# with them, role by role, in tests/assessments and tests/delivery.
TESTED_WITH_THEIR_OBJECTS = {
    "assessments:curve_spec", "assessments:curve_svg", "assessments:curve_range",
    "assessments:comparison", "assessments:operator", "assessments:overflow",
    "assessments:config_check", "assessments:performance_chart",
    "assessments:performance_picture",
    "reports:preview", "reports:file", "portal:password_choice", "portal:invitation",
    "acceptance:review", "evidence:bundle", "acceptance:signing", "acceptance:retest",
    "acceptance:scan", "acceptance:notice_file", "acceptance:power_of_attorney_file",
    "documents:certificate_file", "acceptance:regression_run",
    "knowledge:case_new",
}


def routes(resolver=None, namespace="") -> set[str]:
    """Names of all routes of our namespaces."""
    found = set()
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            found |= routes(entry, entry.namespace or namespace)
        elif isinstance(entry, URLPattern) and entry.name and namespace in OURS:
            found.add(f"{namespace}:{entry.name}")
    return found


def test_every_route_stands_in_the_table():
    assert routes() == set(READ) | WRITE | TESTED_WITH_THEIR_OBJECTS


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


@pytest.fixture
@cached_fixture
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
    node = Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x", state="ready")
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
        "knowledge:case": [case.pk], "knowledge:case_edit": [case.pk],
        "portal:help_chapter": ["01-start"], "portal:help_picture": ["zh", "home"],
        "people:person": [people[CONSULTANT].pk], "people:tokens": [people[CONSULTANT].pk],
        "people:customer": [engagement.customer_id],
        "notices:channel": [channel.pk], "notices:channel_edit": [channel.pk],
        "notices:attempt": [attempt.pk],
        "planning:calendar_feed": ["desk_unknown"],
        "surveys:overview": [code], "surveys:section": [code, "project"],
        "surveys:xlsx": [code, "en"], "surveys:upload": [code], "surveys:consequences": [code],
        "surveys:newer_version": [code],
        "surveys:version_file": [survey.questionnaire_id], "surveys:draft_question": ["need"],
        "reports:engagement": [code], "reports:document": [document.pk],
        "acceptance:contract_terms": [code], "acceptance:powers_of_attorney": [code],
        "acceptance:third_party_reports": [code], "acceptance:warranty": [code],
        "acceptance:regression_runs": [code],
        "reports:deliverables": [code], "reports:deliverable_new": [code],
        "reports:deliverable": [owed.pk], "reports:deliverable_proof": [owed.pk],
        "reports:progress": [document.pk], "reports:texts": [document.pk],
        "reports:standard_text": ["sow_change"], "reports:chain": ["TR"],
        "reports:branding": [engagement.customer_id],
        "engagements:engagement": [code], "engagements:edit": [code], "engagements:team": [code],
        "engagements:model_new": [code], "engagements:model_edit": [code, "LLM"],
        "engagements:stage": [code, "LLM", "survey"],
        "engagements:stage_comments": [code, "LLM", "survey"],
        "engagements:cell_menu": [code, "LLM", "survey"],
        "workers:node": [node.pk], "workers:job": [job.pk], "workers:job_log": [job.pk],
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
        "assessments:baseline_new": [code], "assessments:definition": [definition.pk],
        "assessments:criterion": [criterion.pk], "assessments:baseline": [baseline.pk],
        "assessments:accuracy": [code], "assessments:performance": [code],
        "assessments:human_evaluations": [code], "assessments:human_evaluation_new": [code],
        "assessments:human_evaluation": [rated.pk],
        "assessments:human_evaluation_sheet": [rated.pk],
        "assessments:model_performance": [model.pk], "assessments:round_new": [model.pk],
        "assessments:definition_new": [definition.pk],
        "quotes:engagement": [code],
        "quotes:quote": [quote.pk], "quotes:terms": [quote.pk], "quotes:copy": [quote.pk],
        "quotes:pdf": [quote.pk, "en"], "quotes:xlsx": [quote.pk, "zh-hans"],
        "quotes:compare": [quote.pk, quote.pk], "quotes:payment": [quote.pk],
        "quotes:conditions": [quote.pk], "quotes:line_new": [quote.pk],
        "quotes:line_edit": [quote.pk, line.pk], "quotes:rate_card": [card.pk],
        "quotes:import": [source.pk],
    }


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


QUERY = {"workers:artifact_upload": "?engagement=EP2501", "workers:scan_new": "?engagement=EP2501"}
OF_AN_ENGAGEMENT = (
    "engagements:engagement", "engagements:edit", "engagements:team", "engagements:model_new",
    "engagements:model_edit", "engagements:stage", "engagements:stage_comments",
    "engagements:cell_menu", "workers:job", "workers:job_log",
    "workers:job_log_lines", "workers:job_log_file", "workers:job_merged_log",
    "workers:job_log_search", "workers:job_further_log", "workers:job_further_log_file",
    "workers:job_further_log_search",
    "workers:login_edit", "workers:chain_run", "workers:engagement_chains", "workers:job_archive",
    "workers:artifact", "workers:artifact_download", "assessments:criteria",
    "assessments:criterion", "workers:scan", "workers:scan_patch", "assessments:baseline",
    "workers:api_routes",
    "assessments:accuracy", "assessments:performance", "assessments:model_performance",
    "assessments:human_evaluations", "assessments:human_evaluation",
    "assessments:human_evaluation_sheet", "assessments:human_evaluation_new",
    "assessments:round_new", "assessments:criterion_new", "assessments:baseline_new",
    "quotes:engagement", "quotes:quote", "quotes:copy", "quotes:terms", "quotes:pdf", "quotes:xlsx",
    "quotes:compare", "quotes:payment", "quotes:conditions", "quotes:line_new", "quotes:line_edit",
    "reports:engagement", "reports:document", "reports:deliverables", "reports:deliverable",
    "reports:deliverable_new", "reports:deliverable_proof", "acceptance:contract_terms",
    "acceptance:powers_of_attorney", "acceptance:third_party_reports", "acceptance:warranty",
    "acceptance:regression_runs", "surveys:overview",
    "surveys:section", "surveys:xlsx", "surveys:upload", "surveys:consequences",
    "surveys:newer_version",
    *(name for name in READ if name.startswith("planning:")
      and name not in ("planning:board", "planning:costs")),
)


@pytest.fixture(autouse=True)
def _not_typeset(monkeypatch):
    """Who may open a PDF is asked here, not what it shows; typesetting takes a second each."""
    monkeypatch.setitem(quote_files.RENDERERS, "pdf", lambda quote, language: b"%PDF-1.7")
    monkeypatch.setitem(KINDS, "minutes", replace(
        KINDS["minutes"], render=lambda meeting, language: b"%PDF-1.7"))


@pytest.mark.parametrize("role", Role.values)
def test_roles_and_pages(client, people, world, role):
    """Who opens which page; and reading writes nothing."""
    client.force_login(people[role])
    written = AuditEntry.objects.exclude(action="file.download")  # who read which file
    before, wrong = written.count(), []
    for name, allowed in READ.items():
        url = reverse(name, args=world.get(name, [])) + QUERY.get(name, "")
        status = client.get(url).status_code
        if (status == 200) != (role in allowed) or status not in (200, 403, 404):
            wrong.append((name, status))
    assert wrong == []
    assert written.count() == before


def test_stranger_gets_404(client, stranger, world):
    client.force_login(stranger)
    statuses = {name: client.get(reverse(name, args=world[name])).status_code
                for name in OF_AN_ENGAGEMENT}
    assert statuses == dict.fromkeys(OF_AN_ENGAGEMENT, 404)


def test_without_login_every_page_leads_to_the_login(client, world):
    for name in PUBLIC:
        assert client.get(reverse(name)).status_code == 200
    # Those two are for whoever holds a key, and 404 without it.
    for name in set(READ) - PUBLIC - {"operation:metrics", "planning:calendar_feed"}:
        answer = client.get(reverse(name, args=world.get(name, [])))
        assert (name, answer.status_code, answer.url.startswith("/login/")) == (name, 302, True)


STRANGE = ["²", "9" * 40, "-1", "\x00", "%"]


def test_strange_query_strings_break_no_page(client, people, world):
    """What a link was cut, doubled or tampered to: the page, or a plain refusal."""
    client.force_login(people[MANAGER])
    names = ("page", "engagement", "model", "stage", "kind", "state", "node", "q",
             "profile", "version", "table", "op", "was", "offset", "before",
             "first", "last", "sort", "search", "role", "status", "level")
    for number, name in enumerate(READ):
        # Each page meets all values; which parameter has which moves on from page to page.
        asked = {key: STRANGE[(number + at) % len(STRANGE)] for at, key in enumerate(names)}
        status = client.get(reverse(name, args=world.get(name, [])), asked).status_code
        assert status in (200, 302, 400, 403, 404), (name, asked)


def test_a_nul_byte_is_refused_in_addresses_and_forms(client, people, engagement):
    client.force_login(people[MANAGER])
    asked = [client.get("/engagements/%00/"), client.get("/search/?q=%00"),
             client.post(reverse("engagements:model_new", args=[engagement.code]),
                         {"code": "A", "name": "a\0b"})]
    assert {answer.status_code for answer in asked} == {400}
    assert "400" in asked[0].content.decode()


# Arguments that name no row, and words that some routes take beside them.
NO_ROW = (999_999, "none", "sign", "confirm", "submit", "scope", "up", "publish")


def address_of_nothing(name: str) -> str:
    """An address of the route whose arguments name no row."""
    namespace, _colon, route = name.partition(":")
    resolver = get_resolver().namespace_dict[namespace][1]
    [(_path, parameters), *_others] = resolver.reverse_dict.getlist(route)[0][0]
    for arguments in itertools.product(NO_ROW, repeat=len(parameters)):
        with contextlib.suppress(NoReverseMatch):
            return reverse(name, args=arguments)
    raise LookupError(name)


# Routes about the person or the firm, which name no row; services refuse with a message.
WITHOUT_ROW = {"undo:undo", "people:sign_ins_end", "notices:all_read", "portal:view_save",
               "reports:standard_text_reset", "reports:standard_text_preview",
               "reports:preview_firm", "surveys:draft_begin", "surveys:draft_edit",
               "surveys:draft_end", "surveys:version_new"}


def test_without_login_no_route_takes_a_form(client, db):
    for name in sorted(WRITE):
        answer = client.post(address_of_nothing(name))
        assert (name, answer.status_code, answer.url.startswith("/login/")) == (name, 302, True)


@pytest.mark.parametrize("role", Role.values)
def test_write_routes_only_take_forms_and_know_their_rows(client, people, role):
    """A form for a row that does not exist is refused, whoever sends it; nothing is written."""
    client.force_login(people[role])
    before = AuditEntry.objects.count()
    read = {name: client.get(address_of_nothing(name)).status_code for name in WRITE}
    assert {name: status for name, status in read.items() if status != 405} == {}
    sent = {name: client.post(address_of_nothing(name)).status_code
            for name in WRITE - WITHOUT_ROW}
    assert {name: status for name, status in sent.items() if status not in (403, 404)} == {}
    assert AuditEntry.objects.count() == before
