"""Pages of nodes and of the log-ins that engagements have there."""

from collections.abc import Iterable
from datetime import timedelta

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, allowed, require
from engagements.web.form_actions import attempt, attempt_form, show_errors
from toolreaders.number_parsing import whole_number
from workers import queries, rule_checks, schedulers, services
from workers.dispatch import disks
from workers.forms.jobs import CleanUpForm, LoginForm, NodeEditForm, NodeForm
from workers.forms.node_bulk import FORMS
from workers.forms.node_calendar import MaintenanceForm
from workers.labels import card_charts
from workers.models import CardAlarm, Job, Node, NodeLogin
from workers.models.job import WAITING_STATES
from workers.nodes import ssh
from workers.nodes.cards import alarms
from workers.nodes.certificates import facts_of
from workers.runtimes import offers
from workers.services import card_alarms, key_installation, node_disks, node_edits, node_logins
from workers.services import node_bulk as node_bulk_changes

CHARTED = timedelta(days=1)
NODES_PER_PAGE, QUEUES_PER_PAGE = 50, 10
MOST_HOURS = 24 * 90  # of silence


@require_GET
def node_list(request):
    """Every node with its cards, those in trouble first."""
    require(request.user, Can.VIEW_INTERNAL)
    nodes = Node.objects.visible_to(request.user).without_secrets()
    retired, is_retired = Node.State.RETIRED, "retired" in request.GET
    shown = nodes.filter(state=retired) if is_retired else nodes.exclude(state=retired)
    labels, label, chosen = _by_label(request, shown)
    rows = queries.fleet_of(chosen if label else shown, request.user, timezone.now())
    return render(request, "workers/nodes.html", {
        "retired": 0 if is_retired else nodes.filter(state=retired).count(),
        "labels": labels, "label": label,
        "summary": queries.fleet_summary(rows),
        "page": Paginator(rows, NODES_PER_PAGE).get_page(request.GET.get("page"))})


def _by_label(request: HttpRequest, nodes: Iterable[Node]) -> tuple[list[str], str, list[Node]]:
    """All labels of the nodes, the one that the address asks for, and the nodes that bear it."""
    worn = {node: node_bulk_changes.words(node.labels) for node in nodes}
    label = request.GET.get("label", "")
    return (sorted({word for words in worn.values() for word in words}), label,
            [node for node, words in worn.items() if label in words])


@require_http_methods(["GET", "POST"])
def node_new(request):
    require(request.user, Can.OPERATE)
    form = NodeForm(request.POST or None)
    if form.is_valid():
        node = attempt_form(form, lambda: services.enrol_node(
            actor=request.user, **form.arguments()))
        if node:
            return redirect("workers:node", node.pk)
    return render(request, "workers/node_form.html", {"form": form})


def _node(request: HttpRequest, pk: int) -> Node:
    return get_object_or_404(Node.objects.visible_to(request.user), pk=pk)


@require_GET
def node_page(request, pk):
    node, now = _node(request, pk), timezone.now()
    [row] = queries.fleet_of([node], request.user, now)
    outcome = rule_checks.of_node(node)
    rules = rule_checks.stored_outcome(outcome)
    return render(request, "workers/node.html", {
        "node": node, "row": row,
        "offered": ssh.fingerprint(node.offered_host_key) if node.offered_host_key else "",
        "pinned": ssh.fingerprint(node.host_key) if node.host_key else "",
        "queue": queries.queues_of([node], request.user, now)[0],
        "offered_images": offers.pairs(node, "images"),
        "offered_containers": offers.pairs(node, "containers"),
        "scheduler_options": schedulers.shown_options(node),
        "contacts": node.contacts.all()[:12],
        "certificate": facts_of(node.certificate) if node.certificate else None,
        "charts": card_charts.of_node(node, now - CHARTED, now),
        "card_alarms": alarms.presented(node.card_alarms.filter(cleared_at=None)),
        "logins": NodeLogin.objects.visible_to(request.user).in_use().filter(
            node=node).select_related("engagement"),
        "jobs": node.jobs.visible_to(request.user).select_related(
            "node", "model", "engagement", "gang")[:15],
        "hits": rule_checks.hits_of(rules), "not_checked": outcome.not_checked,
        "rule_counts": rule_checks.counts_of((_("Last readings of the node"), rules))})


@require_POST
def node_confirm(request, pk):
    """Pin the key; then log in once, so that a wrong user or key is told at once."""
    node = _node(request, pk)
    confirmed = attempt(request, lambda: services.confirm_host_key(
        actor=request.user, node=node, fingerprint=request.POST.get("fingerprint", "")),
        _("The host key is pinned; the node is ready."))
    if confirmed:
        _try(request, confirmed)
    return redirect("workers:node", pk)


def _try(request: HttpRequest, access: Node | NodeLogin) -> None:
    attempt(request, lambda: node_edits.try_login(actor=request.user, access=access),
            _("The log-in works."))


@require_POST
def node_try(request, pk):
    _try(request, _node(request, pk))
    return redirect("workers:node", pk)


@sensitive_post_parameters("password")
@require_POST
def node_install_key(request, pk):
    """A password, used once to let the desk's key in."""
    node = _node(request, pk)
    attempt(request, lambda: key_installation.install_key(
        actor=request.user, node=node, password=request.POST.get("password", "")),
        _("The key is installed and opens the node; the password was not stored."))
    return redirect("workers:node", pk)


@require_http_methods(["GET", "POST"])
def node_edit(request, pk):
    node = _node(request, pk)
    require(request.user, Can.OPERATE)
    left = node_edits.folders_left_behind(node) if request.method == "POST" else 0
    form = NodeEditForm(request.POST or None, instance=Node.objects.get(pk=pk))
    if form.is_valid():
        edited = attempt_form(form, lambda: node_edits.edit_node(
            actor=request.user, node=node, **form.changes()))
        if edited:
            _tell_edited(request, node, edited, left)
            return redirect("workers:node", pk)
    return render(request, "workers/node_edit.html", {"form": form, "node": node})


def _tell_edited(request: HttpRequest, before: Node, after: Node, folders: int) -> None:
    moved = any(getattr(before, name) != getattr(after, name) for name in node_edits.HOME)
    if folders and moved:
        messages.warning(request, ngettext(
            "The folder of %(n)d ended job stays where the old user or scratch folder put it; "
            "the clean-up will not find it there.",
            "The folders of %(n)d ended jobs stay where the old user or scratch folder put them; "
            "the clean-up will not find them there.", folders) % {"n": folders})
    if after.state == Node.State.PENDING:
        messages.warning(request, _("Compare the fingerprint below before you confirm it."))
    else:
        messages.success(request, _("Saved."))


@require_http_methods(["GET", "POST"])
def node_bulk(request):
    """The same change on many nodes, with what became of it on each."""
    require(request.user, Can.OPERATE)
    nodes = Node.objects.visible_to(request.user).exclude(state=Node.State.RETIRED)
    labels, label, chosen = _by_label(request, nodes)
    asked, outcomes = request.POST.get("action"), None
    found = {action: form(request.POST if action == asked else None, chosen_of=nodes,
                          prefix=action, initial={"nodes": [node.pk for node in chosen]})
             for action, form in FORMS.items()}
    if asked in found and found[asked].is_valid():
        outcomes = node_bulk_changes.ACTIONS[asked](
            actor=request.user, **found[asked].cleaned_data)
    return render(request, "workers/node_bulk.html", {
        "forms": found, "outcomes": outcomes, "asked": asked, "labels": labels, "label": label})


@require_POST
def node_refetch(request, pk):
    node = _node(request, pk)
    attempt(request, lambda: services.fetch_new_host_key(actor=request.user, node=node),
            _("Compare the fingerprint below before you confirm it."))
    return redirect("workers:node", pk)


@require_POST
def node_maintenance(request, pk):
    node = _node(request, pk)
    form = MaintenanceForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: services.set_maintenance(
            actor=request.user, node=node, **form.cleaned_data), _("Saved."))
    else:
        show_errors(request, form)
    return redirect("workers:node", pk)


@require_POST
def node_retire(request, pk):
    node = _node(request, pk)
    attempt(request, lambda: services.retire_node(actor=request.user, node=node), _("Saved."))
    return redirect("workers:node", pk)


@require_POST
def node_delete(request, pk):
    node = _node(request, pk)
    done = attempt(request, lambda: services.delete_node(actor=request.user, node=node),
                   _("Deleted."))
    return redirect("workers:nodes") if done else redirect("workers:node", pk)


@require_POST
def alarm_say(request, pk):
    """An alarm is known, or silent for some hours."""
    alarm = get_object_or_404(CardAlarm.objects.visible_to(request.user), pk=pk)
    common = {"actor": request.user, "alarm": alarm}
    hours, note = whole_number(request.POST.get("hours")), request.POST.get("note", "")
    if hours:
        attempt(request, lambda: card_alarms.silence_alarm(
            **common, until=timezone.now() + timedelta(hours=min(hours, MOST_HOURS)),
            reason=note), _("Saved."))
    else:
        attempt(request, lambda: card_alarms.acknowledge_alarm(**common, note=note), _("Saved."))
    return redirect("workers:node", alarm.node_id)


@require_POST
def node_check(request, pk):
    """Read chips and host of a node outside any engagement."""
    node = _node(request, pk)
    for kind in ("env.npu_info", "env.host_probe", "env.software"):
        attempt(request, lambda kind=kind: services.queue_job(
            actor=request.user, kind=kind, node=node), _("The check is queued."))
    return redirect("workers:node", pk)


@require_GET
def node_disk(request, pk):
    """What is free and what fills it; for operators the dry run of a rule."""
    node, may_operate = _node(request, pk), allowed(request.user, Can.OPERATE)
    form, rows = CleanUpForm(request.GET or None, node=node), None
    if may_operate and form.is_valid():
        rows = disks.dry_run(node, form.rule(), request.user)
    return render(request, "workers/node_disk.html", {
        "node": node, "form": form, "rows": rows, "may_operate": may_operate,
        "forecast": disks.forecast_sentence(node, timezone.now()),
        "contents": disks.contents(node, request.user),
        "going": [row for row in rows or () if not row["why_kept"]]})


@require_POST
def node_measure_disk(request, pk):
    node = _node(request, pk)
    attempt(request, lambda: node_disks.measure_disk(actor=request.user, node=node), _("Saved."))
    return redirect("workers:node_disk", pk)


@require_POST
def node_clean_up(request, pk):
    """What the dry run has shown."""
    node = _node(request, pk)
    form = CleanUpForm(request.POST, node=node)
    if form.is_valid():
        attempt(request, lambda: node_disks.clean_up(
            actor=request.user, node=node, rule=form.rule()), _("The folders are removed."))
    else:
        show_errors(request, form)
    return redirect("workers:node_disk", pk)


@require_http_methods(["GET", "POST"])
def login_new(request, pk):
    """A user and key of its own for one engagement."""
    node = _node(request, pk)
    require(request.user, Can.OPERATE)
    form = LoginForm(request.POST or None, user=request.user, node=node)
    if form.is_valid():
        login = attempt_form(form, lambda: node_logins.add_login(
            actor=request.user, node=node, **form.cleaned_data))
        if login:
            _try(request, login)
            return redirect("workers:node", pk)
    return render(request, "workers/login_form.html", {"form": form, "node": node})


def _login(request: HttpRequest, pk: int) -> NodeLogin:
    return get_object_or_404(NodeLogin.objects.visible_to(request.user).in_use().select_related(
        "node", "engagement"), pk=pk)


@require_http_methods(["GET", "POST"])
def login_edit(request, pk):
    login = _login(request, pk)
    require(request.user, Can.OPERATE, login.engagement)
    form = LoginForm(request.POST or None, user=request.user, node=login.node, login=login,
                     initial={"username": login.username})
    if form.is_valid():
        changed = attempt_form(form, lambda: node_logins.change_login(
            actor=request.user, login=login, **form.changes()))
        if changed:
            _try(request, changed)
            return redirect("workers:node", login.node_id)
    return render(request, "workers/login_form.html", {
        "form": form, "node": login.node, "login": login})


@require_POST
def login_try(request, pk):
    login = _login(request, pk)
    _try(request, login)
    return redirect("workers:node", login.node_id)


@require_POST
def login_withdraw(request, pk):
    login = _login(request, pk)
    attempt(request, lambda: node_logins.withdraw_login(actor=request.user, login=login),
            _("Withdrawn; its key is erased. Folders of its jobs remain on the node."))
    return redirect("workers:node", login.node_id)


@require_GET
def queue_page(request):
    """Whose turn it is on every node, first on those where somebody waits."""
    require(request.user, Can.VIEW_INTERNAL)
    jobs = Job.objects.in_flight().filter(node=OuterRef("pk"))
    nodes = Node.objects.visible_to(request.user).exclude(state=Node.State.RETIRED).order_by(
        Exists(jobs.filter(state__in=WAITING_STATES)).desc(), Exists(jobs).desc(), "name")
    page = Paginator(nodes.prefetch_related("cards"), QUEUES_PER_PAGE).get_page(
        request.GET.get("page"))
    return render(request, "workers/queue.html", {
        "shares": queries.shares_of(request.user), "page": page,
        "queues": queries.queues_of(page.object_list, request.user, timezone.now())})
