"""Pages of documents: doors that parse, call one service and answer."""

from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.reports import services
from delivery.reports.bilingual import LANGUAGES, in_language
from delivery.reports.models import Document, DocumentFile
from delivery.reports.rendering import render_document
from engagements.access import Can, allowed
from engagements.doors import attempt
from engagements.errors import DeskError
from engagements.models import Engagement

LANGUAGE_NAMES = {"zh-hans": "中文", "en": "English"}


def _document(request, pk: int) -> Document:
    return get_object_or_404(
        Document.objects.visible_to(request.user).select_related(
            "engagement__customer", "replaces", "created_by", "issued_by"), pk=pk)


def _engagement(request, code: str) -> Engagement:
    return get_object_or_404(
        Engagement.objects.visible_to(request.user).select_related("customer"), code=code)


@require_GET
def document_list(request):
    documents = Document.objects.visible_to(request.user).select_related("engagement__customer")
    page = Paginator(documents, 25).get_page(request.GET.get("page"))
    return render(request, "delivery/reports/list.html", {"page": page})


@require_GET
def engagement_documents(request, code):
    engagement = _engagement(request, code)
    may_issue = allowed(request.user, Can.ISSUE)
    return render(request, "delivery/reports/engagement.html", {
        "engagement": engagement, "active": "documents", "kinds": Document.Kind.choices,
        "documents": engagement.documents.visible_to(request.user).select_related("engagement"),
        "problems": services.issue_problems(engagement) if may_issue else [],
        "bundles": engagement.bundles.select_related("document"), "may_issue": may_issue})


@require_POST
def document_draft(request, code):
    engagement = _engagement(request, code)
    draft = {Document.Kind.TEST_REPORT: services.draft_test_report,
             Document.Kind.ACCEPTANCE: services.draft_acceptance}.get(request.POST.get("kind", ""))
    if draft is None:
        return redirect("reports:engagement", code)
    made = attempt(request, lambda: draft(actor=request.user, engagement=engagement),
                   _("Drafted from the facts as they stand now."))
    return redirect("reports:document", made.pk) if made else redirect("reports:engagement", code)


@require_GET
def document_page(request, pk):
    document = _document(request, pk)
    facts = in_language(document.snapshot, request.LANGUAGE_CODE)
    is_draft = not document.is_frozen
    return render(request, "delivery/reports/document.html", {
        "document": document, "engagement": document.engagement, "facts": facts,
        "files": [(f, LANGUAGE_NAMES[f.language]) for f in document.files.all()],
        "languages": [(code, LANGUAGE_NAMES[code]) for code in LANGUAGES],
        "versions": _versions(document, request.user), "bundles": document.bundles.all(),
        "review": getattr(document, "review", None),
        "problems": services.issue_problems(document.engagement)
        if is_draft and allowed(request.user, Can.ISSUE) else []})


def _versions(document: Document, user) -> list[Document]:
    if not document.number:
        return [document.replaces] if document.replaces else []
    return list(Document.objects.visible_to(user).filter(
        number=document.number).exclude(pk=document.pk).order_by("version"))


@require_POST
def document_issue(request, pk):
    document = _document(request, pk)
    attempt(request, lambda: services.issue_document(actor=request.user, document=document),
            _("Issued: numbered, frozen, both files stored."))
    return redirect("reports:document", pk)


@require_POST
def document_refresh(request, pk):
    document = _document(request, pk)
    attempt(request, lambda: services.refresh_draft(actor=request.user, document=document),
            _("The facts were collected anew."))
    return redirect("reports:document", pk)


@require_POST
def document_discard(request, pk):
    document = _document(request, pk)
    done = attempt(request, lambda: services.discard_draft(
        actor=request.user, document=document), _("The draft is discarded."))
    return redirect("reports:engagement", document.engagement.code) if done else redirect(
        "reports:document", pk)


@require_POST
def document_correct(request, pk):
    document = _document(request, pk)
    made = attempt(request, lambda: services.draft_correction(
        actor=request.user, document=document, reason=request.POST.get("reason", "")),
        _("A draft of the next version; this version stays as it is."))
    return redirect("reports:document", made.pk if made else pk)


@require_GET
def document_preview(request, pk, language):
    """A draft as PDF, rendered now; an issued document has stored files instead."""
    document = _document(request, pk)
    if language not in LANGUAGES or document.is_frozen:
        raise Http404
    try:
        content = render_document(document.snapshot, language)
    except DeskError as error:
        return HttpResponse(error.message, status=error.status, content_type="text/plain")
    return HttpResponse(content, content_type="application/pdf")


@require_GET
def document_file(request, pk):
    """A stored file; in the browser, or as a download with ?download=1."""
    stored = get_object_or_404(
        DocumentFile.objects.select_related("document"), pk=pk,
        document__in=Document.objects.visible_to(request.user))
    try:
        stream = stored.file.open("rb")
    except OSError as error:
        raise Http404 from error
    return FileResponse(stream, filename=stored.download_name, content_type="application/pdf",
                        as_attachment=bool(request.GET.get("download")))
