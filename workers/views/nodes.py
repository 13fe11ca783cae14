"""Pages of nodes and of the log-ins that engagements have there."""

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of
from workers import queries, rule_checks, schedulers, services
from workers.forms.jobs import LoginForm, NodeEditForm, NodeForm
from workers.labels import card_charts
from workers.labels.node_state import state_sentences
from workers.labels.software_names import named_software
from workers.models import Node, NodeLogin
from workers.nodes import machines, ssh
from workers.nodes.cards import alarms
from workers.nodes.certificates import facts_of
from workers.runtimes import offers
from workers.services import key_installation, node_edits, node_logins

CHARTED = timedelta(days=1)
NODES_PER_PAGE, QUEUES_PER_PAGE = 50, 10


@require_GET
def node_list(request):
    require(request.user, Can.VIEW_INTERNAL)
    page = page_of(Node.objects.visible_to(request.user), request.GET, NODES_PER_PAGE)
    return render(request, "workers/nodes.html", {
        "page": page, "nodes": queries.nodes_with_load(page.object_list)})


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
    return render(request, "workers/node.html", {
        "node": node, "cards": queries.cards_with_holders(node, request.user),
        "offered": ssh.fingerprint(node.offered_host_key) if node.offered_host_key else "",
        "pinned": ssh.fingerprint(node.host_key) if node.host_key else "",
        "sentences": state_sentences(node, now),
        "twin": machines.with_host_key(node, node.host_key) if node.host_key else None,
        "queue": queries.queues_of([node], request.user, now)[0],
        "software": named_software(node.software),
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
        **_node_rules(node)})


def _node_rules(node: Node) -> dict:
    outcome = rule_checks.of_node(node)
    stored = rule_checks.stored_outcome(outcome)
    return {"hits": rule_checks.hits_of(stored), "not_checked": outcome.not_checked,
            "rule_counts": rule_checks.counts_of((_("Last readings of the node"), stored))}


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


@require_POST
def node_refetch(request, pk):
    node = _node(request, pk)
    attempt(request, lambda: services.fetch_new_host_key(actor=request.user, node=node),
            _("Compare the fingerprint below before you confirm it."))
    return redirect("workers:node", pk)


@require_POST
def node_maintenance(request, pk):
    node = _node(request, pk)
    attempt(request, lambda: services.set_maintenance(
        actor=request.user, node=node, is_on=request.POST.get("on") == "yes"), _("Saved."))
    return redirect("workers:node", pk)


@require_POST
def node_check(request, pk):
    """Read chips and host of a node outside any engagement."""
    node = _node(request, pk)
    for kind in ("env.npu_info", "env.host_probe", "env.software"):
        attempt(request, lambda kind=kind: services.queue_job(
            actor=request.user, kind=kind, node=node), _("The check is queued."))
    return redirect("workers:node", pk)


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
    """Whose turn it is on every node."""
    require(request.user, Can.VIEW_INTERNAL)
    nodes = Node.objects.visible_to(request.user).prefetch_related("cards")
    page = page_of(nodes, request.GET, QUEUES_PER_PAGE)
    return render(request, "workers/queue.html", {
        "page": page, "queues": queries.queues_of(page.object_list, request.user, timezone.now())})
