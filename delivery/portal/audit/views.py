"""The page of the audit log."""

from django.core.paginator import Paginator
from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.portal.audit.entry_filter import AuditFilter
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.models import AuditEntry

ENTRIES_PER_PAGE = 50


@require_GET
def audit_page(request):
    """Entries, newest first; with `?check` the chain is verified."""
    require(request.user, Can.AUDIT)
    filters = AuditFilter(request.GET)
    entries = filters.chosen(AuditEntry.objects.visible_to(request.user))
    is_checked = "check" in request.GET
    return render(request, "delivery/portal/audit.html", {
        "page": Paginator(entries.select_related("actor", "engagement"),
                          ENTRIES_PER_PAGE).get_page(request.GET.get("page")),
        "filters": filters, "is_checked": is_checked,
        "finding": next(audit_log.findings(), None) if is_checked else None})
