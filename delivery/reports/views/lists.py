"""Lists of documents, and the kinds that an engagement may draft."""

from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.reports import registry, services
from delivery.reports.models import Document
from delivery.reports.views.common import visible_engagement
from engagements.access import Can, allowed
from engagements.web.form_actions import attempt
from engagements.web.paging import page_of


@require_GET
def document_list(request):
    documents = (Document.objects.visible_to(request.user).without_facts()
                 .select_related("engagement__customer", "review"))
    page = page_of(documents, request.GET, 25)
    return render(request, "delivery/reports/list.html", {"page": page})


@require_GET
def engagement_documents(request, code):
    engagement = visible_engagement(request, code)
    documents = list(engagement.documents.visible_to(request.user).without_facts()
                     .select_related("engagement", "review"))
    return render(request, "delivery/reports/engagement.html", {
        "engagement": engagement, "active": "documents", "documents": documents,
        "kinds": _kinds(request.user, documents),
        "bundles": engagement.bundles.select_related("document").defer(
            "document__snapshot", "document__words")})


def _kinds(user, documents: list[Document]) -> list[dict]:
    """Each kind with its newest document; for who is within the firm."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return []
    newest = {document.kind: document for document in reversed(documents)}
    opened = {d.kind: d for d in documents if d.state in Document.OPEN_STATES}
    return [{"kind": kind, "newest": newest.get(kind.code), "open": opened.get(kind.code),
             "may_write": allowed(user, kind.written_by)} for kind in registry.all_kinds()]


@require_POST
def document_draft(request, code):
    engagement = visible_engagement(request, code)
    made = attempt(request, lambda: services.draft_document(
        actor=request.user, engagement=engagement, kind=request.POST.get("kind", "")),
                   _("Drafted from the current data."))
    return redirect("reports:document", made.pk) if made else redirect("reports:engagement", code)
