"""The page of a document: its facts, its way, its files."""

from django.db.models import Q
from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from delivery.documents import render_progress
from delivery.documents.bilingual import LANGUAGES, in_language
from delivery.reports import registry
from delivery.reports.approvals import approval_chain
from delivery.reports.approvals.document_duties import DUTIES
from delivery.reports.decision_summary import picture
from delivery.reports.facts.trial_run import outdated
from delivery.reports.issue_checks.checks import problems_of
from delivery.reports.models import Document, DocumentFile, RenderJob
from delivery.reports.services.files import PREVIEW
from delivery.reports.transitions import TRANSITIONS, DocumentMove
from delivery.reports.views.common import LANGUAGE_NAMES, in_reading_order, visible_document
from engagements.access import Can, allowed, require
from engagements.audit import download_log
from engagements.duties import missing_people
from engagements.moves import offered_moves

WAITING = (RenderJob.State.PENDING, RenderJob.State.RUNNING)
OPEN = (Document.State.DRAFT, Document.State.IN_REVIEW, Document.State.REVIEWED)


@require_GET
def document_page(request, pk):
    document = visible_document(request, pk)
    is_inside = allowed(request.user, Can.VIEW_INTERNAL)
    is_open = document.state in OPEN
    kind = registry.get(document.kind)
    facts = in_language(document.snapshot, request.LANGUAGE_CODE)
    return render(request, "delivery/reports/document.html", {
        "document": document, "engagement": document.engagement, "kind": kind,
        "facts": facts, "picture": picture(facts) if "metrics" in facts else {},
        "versions": _versions(document, request.user), "bundles": document.bundles.all(),
        "review": getattr(document, "review", None), "is_open": is_open,
        "moves": (moves := offered_moves(request.user, TRANSITIONS, document)),
        "missing_people": missing_people(DUTIES, document, request.user)
        if DocumentMove.SUBMIT in moves else [],
        "turns": document.turns.select_related("holder", "done_by") if is_inside else [],
        "colleagues": approval_chain.colleagues(document) if is_inside else [],
        "steps": document.steps.select_related("actor") if is_inside else [],
        "is_checked": is_inside and is_open,
        "outdated": _outdated(document) if is_inside else "",
        **_progress(document)})


@require_GET
def document_problems(request, pk):
    """What stands in the way of issuing: a part of the page, which asks for it once it is shown,
    for the facts are made anew to compare them."""
    require(request.user, Can.VIEW_INTERNAL)
    document = visible_document(request, pk)
    if document.state not in OPEN:
        raise Http404
    return render(request, "delivery/reports/problems.html", {
        "document": document, "problems": problems_of(document),
        "moves": offered_moves(request.user, TRANSITIONS, document)})


def _outdated(document: Document) -> str:
    """Why a final certificate that no customer has seen yet is not put before him."""
    is_waiting = document.kind == Document.Kind.ACCEPTANCE and (
        document.state == Document.State.ISSUED and not hasattr(document, "review"))
    return outdated(document) if is_waiting else ""


def _versions(document: Document, user) -> list[Document]:
    if not document.number:
        return [document.replaces] if document.replaces else []
    return list(Document.objects.visible_to(user).without_facts().filter(
        number=document.number).exclude(pk=document.pk).order_by("version"))


def _progress(document: Document) -> dict:
    """Files that are there, and those on order."""
    orders = list(document.render_jobs.all())
    waiting = [order for order in orders if order.state != RenderJob.State.DONE]
    pages = render_progress.pages(order.pk for order in waiting)
    done = sum(order.state == RenderJob.State.DONE for order in orders)
    return {
        "files": in_reading_order(document.files.select_related(
            "document__engagement").defer("document__snapshot", "document__words")),
        "orders": [(o, LANGUAGE_NAMES[o.language], pages.get(o.pk)) for o in waiting],
        "is_waiting": any(order.state in WAITING for order in orders),
        "has_failed": any(order.state == RenderJob.State.FAILED for order in orders),
        "done": done, "total": len(orders), "percent": 100 * done // len(orders) if orders else 0}


@require_GET
def document_progress(request, pk):
    """The card of files, which asks for itself until nothing is on order any more."""
    document = visible_document(request, pk, with_facts=False)
    answer = render(request, "delivery/reports/files.html", {
        "document": document, **_progress(document),
        "moves": offered_moves(request.user, TRANSITIONS, document)})
    if document.is_frozen and request.GET.get("was") == Document.State.ISSUING:
        answer["HX-Refresh"] = "true"
    return answer


@require_GET
def document_preview(request, pk, language):
    """The stored preview of a draft."""
    document = visible_document(request, pk, with_facts=False)
    if language not in LANGUAGES or document.is_frozen:
        raise Http404
    return _answer(get_object_or_404(document.files, Q(language=language, format=PREVIEW)))


@require_GET
def document_file(request, pk):
    """A stored file; in the browser, or as a download with ?download=1."""
    stored = get_object_or_404(
        DocumentFile.objects.select_related("document__engagement").defer(
            "document__snapshot", "document__words"), pk=pk,
        document__in=Document.objects.visible_to(request.user))
    return _answer(stored, is_download=bool(request.GET.get("download")))


def _answer(stored: DocumentFile, *, is_download: bool = False) -> FileResponse:
    try:
        stream = stored.file.open("rb")
    except OSError as error:
        raise Http404 from error
    return download_log.of(FileResponse(
        stream, filename=stored.served_name, content_type=stored.content_type,
        as_attachment=is_download or stored.ending != "pdf"), stored.document)
