"""Pages across the apps."""

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.portal.audit.entry_filter import AuditFilter
from delivery.portal.component_gallery import GALLERY_STEPS, GalleryForm
from delivery.portal.home import home_queries
from delivery.portal.inbox import waiting
from delivery.portal.search import global_search
from engagements.access import Can, require
from engagements.audit import audit_log as audit
from engagements.models import AuditEntry
from engagements.templatetags.display import COLOURS

SHOWN = 60  # lines of the desk


@require_GET
def home(request):
    user = request.user
    found = waiting(user)
    return render(request, "delivery/portal/home.html", {
        "waiting": found[:SHOWN], "waiting_count": len(found),
        "waiting_more": max(0, len(found) - SHOWN),
        "troubled": home_queries.troubled_jobs(user)[:10],
        "running": home_queries.running_jobs(user)[:10],
        "engagements": home_queries.my_engagements(user)[:12]})


@require_GET
def search(request):
    """What fits the words; for htmx only the list of hits."""
    text = request.GET.get("q", "").strip()
    user = request.user
    found = global_search.search(user, text) if text else global_search.newest(user)
    page = "search_hits.html" if request.htmx else "search.html"
    return render(request, f"delivery/portal/{page}", {"q": text, "found": found})


@require_GET
def gallery(request):
    """Every component of the design system on one page; only while developing."""
    if not settings.DEBUG:
        raise Http404
    messages.success(request, "Saved.")
    messages.error(request, "The host key is not the pinned one.")
    return render(request, "components/gallery.html", {
        "colours": COLOURS, "form": GalleryForm(), "steps": GALLERY_STEPS,
        "page": Paginator(range(90), 30).get_page(2)})


@require_GET
def audit_log(request):
    require(request.user, Can.AUDIT)
    filters = AuditFilter(request.GET)
    entries = filters.chosen(AuditEntry.objects.visible_to(request.user))
    is_checked = "check" in request.GET
    return render(request, "delivery/portal/audit.html", {
        "page": Paginator(entries.select_related("actor", "engagement"), 50).get_page(
            request.GET.get("page")),
        "filters": filters, "is_checked": is_checked,
        "finding": next(audit.findings(), None) if is_checked else None})
