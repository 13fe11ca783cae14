"""Pages of jobs; each view calls one service."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, allowed, require
from engagements.errors import DeskError
from engagements.models import Engagement, User
from engagements.moves import offered_moves
from engagements.text.text_joining import labelled
from engagements.web.form_actions import attempt
from engagements.web.offered_choices import offered
from engagements.web.paging import page_of
from toolreaders.number_parsing import whole_number
from workers import kinds, queries, rule_checks, services
from workers.dispatch import clusters
from workers.dispatch.transitions import TRANSITIONS
from workers.forms.jobs import JobForm
from workers.jobs import choices
from workers.jobs.follow_ups import follow_ups
from workers.jobs.readable_values import readable, without_secrets
from workers.labels import (
    benchmark_points,
    card_charts,
    check_summary,
    command_words,
    job_results,
)
from workers.logs import (
    customer_text,
    diagnosis,
    early_warnings,
    live_log,
    merged_log,
    numbered_lines,
    progress,
    search,
)
from workers.models import Job, JobLog, JobState, Node, NodeReservation, Priority
from workers.models.job import FINAL_STATES, WAITING_STATES
from workers.nodes.cards import alarms
from workers.rules import SEVERITIES, WARN, Hit
from workers.runtimes import chosen
from workers.views import job_templates
from workers.views.page_context import place_asked

LOG_AT_ONCE = LOG_AT_FIRST = 2**20
TAIL = 60_000


@require_GET
def job_list(request):
    require(request.user, Can.VIEW_INTERNAL)
    jobs = queries.filtered_jobs(Job.objects.whole().visible_to(request.user), request.GET)
    engagement = Engagement.objects.visible_to(request.user).filter(
        code=request.GET.get("engagement", "")).first()
    return render(request, "workers/jobs.html", {
        "page": page_of(jobs, request.GET, 30), "engagement": engagement,
        "engagements": offered(Engagement.objects.visible_to(request.user).filter(
            state=Engagement.State.ACTIVE)) if allowed(request.user, Can.WORK) else (),
        "active": "jobs", "kinds": kinds.all_kinds(), "states": JobState.choices,
        "nodes": Node.objects.visible_to(request.user)})


def _asked(request, kind) -> dict:
    """Values of a job that is to be edited and run again, and of parameters in the link."""
    node = whole_number(request.GET.get("node"))
    return {**_copied(request, kind), **({} if node is None else {"node": node}),
            **{p.name: request.GET[p.name] for p in kind.parameters if p.name in request.GET}}


def _copied(request, kind) -> dict:
    if (key := whole_number(request.GET.get("copy_of"))) is None:
        return {}
    job = get_object_or_404(Job.objects.visible_to(request.user), pk=key, kind=kind.code)
    given = job.parameters if job.created_by_id == request.user.pk \
        else without_secrets(job.parameters)
    return {**given, "node": job.node_id, "priority": min(job.priority, Priority.NORMAL),
            "purpose": job.purpose,
            "runtime": services.runtimes.own_of(job), **_nodes_of(job)}


def _nodes_of(job: Job) -> dict:
    """The form's values for the nodes of a job on several."""
    if job.nodes_wanted == 1:
        return {}
    first, *more = [member.node_id for member in job.own_gang.present()]
    return {"node": first, "more_nodes": more, "restarts": job.own_gang.restarts_allowed}


@require_http_methods(["GET", "POST"])
def job_new(request):
    engagement, model, stage = place_asked(request)
    require(request.user, Can.WORK if engagement else Can.OPERATE, engagement)
    offered = [k for k in kinds.all_kinds() if not stage or stage in k.stages]
    chosen = next((k for k in offered if k.code == request.GET.get("kind")), None)
    earlier = (choices.last_run(chosen, model)
               if chosen and "copy_of" not in request.GET else None)
    template = job_templates.asked(request, chosen)
    form_with = partial(JobForm, kind=chosen, user=request.user, engagement=engagement,
                        migrated=model)
    form = form_with(request.POST or None, initial={
        **choices.values_of_run(earlier, chosen, model),
        **job_templates.initial(template, chosen), **_asked(request, chosen)}) if chosen else None
    summary, hits = "", []
    if form and "save_template" in request.POST:
        form = job_templates.form_after_saving(request, form, form_with)
    elif form and form.is_bound:
        refusal = ""
        if form.is_valid() and "only_check" not in request.POST:
            try:
                return _queued(request, _queue(request.user, form, stage))
            except DeskError as error:
                refusal = error.message
        summary, hits = _check(request.user, form, stage, refusal)
    if form and not form.is_bound:
        hits = form.preflight_hits()
    return render(request, "workers/job_form.html", {
        "form": form, "kind": chosen, "engagement": engagement, "earlier": earlier,
        "choices": [] if chosen else choices.choices_of(offered, model, stage),
        "template": template, "template_open": "save_template" in request.POST,
        "templates": job_templates.of_kind(request.user, chosen),
        "hits": hits, "summary": summary, "model": model, "stage": stage})


def _order(user, form: JobForm, stage: str) -> dict:
    given = form.cleaned_data
    return {"actor": user, "kind": form.kind.code, "parameters": form.parameters(),
            "engagement": form.engagement, "stage": stage,
            "purpose": given.get("purpose") or "", "node": given.get("node"),
            "priority": int(given.get("priority") or 0),
            "priority_reason": given.get("priority_reason") or "", "nodes": form.nodes(),
            "restarts": given.get("restarts") or 0, "runtime": given.get("runtime")}


def _queue(user, form: JobForm, stage: str) -> list[Job]:
    order = _order(user, form, stage)
    if also := form.cleaned_data.get("also"):
        return services.queue_for_models(models=[form.migrated, *also], **order)
    return [services.queue_job(model=form.migrated, **order)]


def _check(user, form: JobForm, stage: str, refusal: str) -> tuple[str, list[Hit]]:
    """What the checks of queueing say, as a sentence and hits; what forbids the job is marked at
    the fields. `refusal` is why it was not queued, if that was tried."""
    found = []
    if form.is_valid():
        models = [form.migrated, *form.cleaned_data.get("also", ())]
        found = services.check_for_models(models=models, **_order(user, form, stage))
        form.mark((name, sentence if len(models) == 1 else labelled(model.code, sentence))
                  for model, each in zip(models, found, strict=True)
                  for name, sentence in each.errors)
    if refusal and not form.errors:  # what forbade it has gone meanwhile
        form.mark([("", refusal)])
    errors = sum(map(len, form.errors.values()))
    if not found or not all(each.outcomes for each in found):
        return check_summary.summary(errors), []
    hits = sorted(dict.fromkeys(hit for each in found for hit in each.hits),
                  key=lambda hit: SEVERITIES.index(hit.severity))
    return check_summary.summary(
        errors, sum(hit.severity == WARN for hit in hits),
        len(set().union(*(each.without_data for each in found)))), hits


def _queued(request: HttpRequest, jobs: list[Job]) -> HttpResponse:
    """One job's page, or the list with all of them."""
    if len(jobs) == 1:
        return redirect("workers:job", jobs[0].pk)
    messages.success(request, ngettext("%(n)d job is queued.", "%(n)d jobs are queued.", len(jobs))
                     % {"n": len(jobs)})
    place = urlencode({"engagement": jobs[0].engagement.code})
    return redirect(f"{reverse('workers:jobs')}?{place}")


def _job(request: HttpRequest, pk: int) -> Job:
    return get_object_or_404(
        Job.objects.visible_to(request.user).select_related(
            "engagement", "model", "node", "created_by", "retry_of", "gang", "login__node",
            "login__engagement"), pk=pk)


@require_GET
def job_page(request, pk):
    """The whole page; to htmx the part that changes while the job runs."""
    job, now = _job(request, pk), timezone.now()
    kind = kinds.of_job(job)
    template = "workers/job_facts.html" if request.htmx else "workers/job.html"
    several = _members_context(job, request.GET.get("rank", ""))
    return render(request, template, {
        "job": job, "kind": kind, "remaining": progress.remaining_seconds(job),
        "state_before": dict(JobState.choices).get(job.state_before_unknown, ""),
        "charts": card_charts.of_job(job, now), "points": benchmark_points.of_job(job.results),
        "card_alarms": alarms.presented(alarms.of_job(job, now)),
        "alarms": early_warnings.of(job, now),
        "expected_start": job_results.expected_start(job),
        "why_waiting": queries.why_waiting(job, request.user, now)
        if job.state in WAITING_STATES and allowed(request.user, Can.VIEW_INTERNAL) else [],
        "maintenance": NodeReservation.objects.filter(
            node=job.node_id, engagement=None, ends_at__gt=now)
        if job.node_id and job.state not in (*FINAL_STATES, *WAITING_STATES) else (),
        "scheduled": job_results.scheduler_facts(job, clusters.why_another_state(job)),
        "runtime": chosen.of_job(job).shown(),
        "container": job_results.container_facts(job),
        "command": command_words.of_command(readable(
            job.command, user=request.user, author_id=job.created_by_id)),
        **several, **({"log": ""} if request.htmx else _log_context(
            request.user, several["log_job"], several["asked_rank"], several.get("present", []),
            request.GET.get("log", ""))),
        "diagnosis": diagnosis.presented(job),
        "left_behind": job_results.left_behind(job.results),
        "not_collected": job_results.not_collected(
            job.results, job.artifacts.exclude(name__in=("log.txt", "not-collected.txt")).count()),
        "cards": job.results.get("cards", []), "hits": rule_checks.hits_of_job(job.results),
        "rule_counts": rule_checks.counts_of((_("Before the job"), job.results.get("preflight")),
                                             (_("On its files"), job.results.get("rule_outcome"))),
        "inputs": several["log_job"].inputs.select_related("source_node"),
        "attempts": queries.attempts_of(job),
        "follow_ups": follow_ups(job) if not request.htmx else (),
        "artifacts": job.artifacts.prefetch_related("readings"),
        "moves": offered_moves(request.user, TRANSITIONS, job),
        "priorities": Priority.choices})


def _members_context(job: Job, asked: str) -> dict[str, Any]:
    """The members by round and rank, and whose log is shown: of the rank asked for, or of all.

    Args:
        asked: the rank's number; `all`; empty for the first.
    """
    if job.nodes_wanted == 1:
        return {"members": [], "log_job": job, "asked_rank": ""}
    members = list(job.own_gang.members.select_related("node").order_by("-attempt", "rank"))
    present = [member for member in members if member.attempt == job.own_gang.round]
    shown = next((member for member in present if str(member.rank) == asked), present[0])
    return {"members": members, "present": present, "log_job": shown,
            "asked_rank": "all" if asked == "all" else shown.rank}


def _log_context(user: User, log_job: Job, asked_rank: Any, present: list[Job],
                 asked_log: str = "") -> dict[str, Any]:
    """The end of the log that is shown, and where its whole first part begins.

    Args:
        asked_log: the id of a further log of the job; empty for its output.
    """
    shown = customer_text.shown_to(user)
    if asked_rank == "all":
        return {"log": shown("".join(merged_log.lines(present, TAIL)))}
    further = list(log_job.logs.select_related("job"))
    extra = next((each for each in further if str(each.pk) == asked_log), None)
    asked = extra or log_job
    return {"log": shown(live_log.tail(asked, TAIL)), "further_logs": further, "extra_log": extra,
            "shown_log": asked,
            "log_offset": live_log.line_start(asked, asked.log_stored - LOG_AT_FIRST)}


def _log(request: HttpRequest, pk: int, log: int | None) -> Job | JobLog:
    """The job, or a further log of it."""
    job = _job(request, pk)
    return job if log is None else get_object_or_404(job.logs.select_related("job"), pk=log)


@require_GET
def job_log(request, pk, log=None):
    """The masked log as plain text from a byte offset; X-Next-Offset says where to go on."""
    job = _log(request, pk, log)
    text, end = live_log.read(job, whole_number(request.GET.get("offset")) or 0, LOG_AT_ONCE)
    is_final = job.is_final and end >= job.log_stored
    text = customer_text.shown_to(request.user)(text)
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers={
        "X-Next-Offset": str(end), "X-Log-Final": "yes" if is_final else "no",
        "X-Log-Length": str(job.log_stored)})


@require_GET
def job_log_lines(request, pk):
    """The numbered lines around one, each an anchor: `?line=120#L120`.

    `?line=first-error` leads to the line that shows the first known cause of a failure.
    """
    job = _job(request, pk)
    if request.GET.get("line") == "first-error":
        return _to_first_error(request, job)
    asked = max(1, whole_number(request.GET.get("line")) or 1)
    shown = customer_text.shown_to(request.user)
    blocks = numbered_lines.blocks_of([
        (number, shown(text)) for number, text in numbered_lines.around(job, asked)])
    return render(request, "workers/log_lines.html", {
        "job": job, "asked": asked,
        "blocks": [(block, block.holds(asked)) for block in blocks]})


def _to_first_error(request: HttpRequest, job: Job) -> HttpResponse:
    line = diagnosis.first_line(job)
    if line is None:
        messages.info(request, _("The log shows no known cause."))
        return redirect("workers:job", job.pk)
    page = reverse("workers:job_log_lines", args=[job.pk])
    return redirect(f"{page}?line={line}#L{line}")


@require_GET
def job_log_file(request, pk, log=None):
    """The whole masked log as a download, passed on piece by piece."""
    job = _log(request, pk, log)
    name = f"job-{pk}.log" if log is None else job.name.replace("/", "_").replace('"', "_")
    length = {"Content-Length": str(live_log.length(job))}
    return StreamingHttpResponse(
        customer_text.lines_shown_to(request.user, live_log.pieces(job)),
        content_type="text/plain; charset=utf-8", headers={
            **(length if allowed(request.user, Can.VIEW_INTERNAL) else {}),
            "Content-Disposition": f'attachment; filename="{name}"'})


@require_GET
def job_merged_log(request, pk):
    """The logs of all nodes of a job in one, passed on line by line."""
    job = _job(request, pk)
    members = list(job.own_gang.present()) if job.nodes_wanted > 1 else [job]
    return StreamingHttpResponse(
        map(customer_text.shown_to(request.user), merged_log.lines(members)),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="job-{job.pk}-all.log"'})


@require_GET
def job_log_search(request, pk, log=None):
    """The last line before a byte offset that holds the text, or looks like an error.

    JSON: `found` with the line's offset (null if there is none), and `searched_to`, from where to
    go on where this part of the log had none.
    """
    answer = search.answer(_log(request, pk, log), request.GET)
    return JsonResponse({**answer, "line": customer_text.shown_to(request.user)(answer["line"])})


@require_POST
def job_cancel(request, pk):
    job = _job(request, pk)
    attempt(request, lambda: services.cancel_job(
        actor=request.user, job=job, reason=request.POST.get("reason", "")),
            _("Cancelling: the cards are released once none of its processes run."))
    return redirect("workers:job", pk)


@require_POST
def job_rule(request, pk):
    """Hold, release, or another priority: `move` says which."""
    job, reason = _job(request, pk), request.POST.get("reason", "")
    common = {"actor": request.user, "job": job}
    priority = whole_number(request.POST.get("priority", "").removeprefix("-")) or 0
    if request.POST.get("priority", "").startswith("-"):
        priority = -priority
    moves = {"hold": lambda: services.hold_job(**common, reason=reason),
             "release": lambda: services.release_job(**common),
             "priority": lambda: services.set_priority(
                 **common, priority=Priority(priority), reason=reason)}
    asked = request.POST.get("move", "")
    if asked in moves and (asked != "priority" or priority in Priority.values):
        attempt(request, moves[asked], _("Saved."))
    return redirect("workers:job", pk)


@require_POST
def job_retry(request, pk):
    job = _job(request, pk)
    new = attempt(request, lambda: services.retry_job(actor=request.user, job=job),
                  _("A new attempt is queued."))
    return redirect("workers:job", new.pk if new else pk)
