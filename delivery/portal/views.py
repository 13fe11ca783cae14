"""Pages across the apps."""

from django.core.paginator import Paginator
from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.portal import queries
from engagements import audit
from engagements.access import Can, require
from engagements.models import AuditEntry


@require_GET
def home(request):
    user = request.user
    return render(request, "delivery/portal/home.html", {
        "stages": queries.waiting_stages(user)[:30], "troubled": queries.troubled_jobs(user)[:10],
        "running": queries.running_jobs(user)[:10],
        "engagements": queries.my_engagements(user)[:12]})


@require_GET
def audit_log(request):
    require(request.user, Can.AUDIT)
    entries = AuditEntry.objects.visible_to(request.user).select_related("actor", "engagement")
    return render(request, "delivery/portal/audit.html", {
        "page": Paginator(entries, 50).get_page(request.GET.get("page")),
        "broken": audit.first_broken_entry()})
