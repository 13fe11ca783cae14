"""The page of the audit log."""

from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.portal.audit.entry_filter import AuditFilter
from delivery.portal.audit.log_check import check_log
from engagements.access import Can, require
from engagements.models import AuditArchive, AuditEntry
from engagements.web.paging import page_of

ENTRIES_PER_PAGE = 50


@require_GET
def audit_page(request):
    """Entries, newest first; with `?check` the chain is verified."""
    require(request.user, Can.AUDIT)
    filters = AuditFilter(request.GET)
    entries = filters.chosen(AuditEntry.objects.visible_to(request.user))
    return render(request, "delivery/portal/audit.html", {
        "page": page_of(entries.select_related("actor", "engagement").defer("rows"), request.GET,
                        ENTRIES_PER_PAGE, 1 if filters.is_by_text else None),
        "filters": filters, "check": check_log() if "check" in request.GET else None,
        "archive": filters.archives(AuditArchive.objects.visible_to(request.user)).first()})
