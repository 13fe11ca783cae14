"""Pages of the validation rules and of source scans."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from engagements.access import Can, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt_form
from engagements.web.offered_choices import offered
from engagements.web.paging import page_of
from toolreaders.scan import CHECKS
from workers import rule_checks
from workers.forms.jobs import ScanForm
from workers.models import StoredReading
from workers.rules import RULES_VERSION, SEVERITIES
from workers.rules.citations import CITED
from workers.rules.rule_list import FAMILIES, filtered_rules
from workers.rules.version_matrix import SOURCES, table
from workers.services import scans as scanning
from workers.views.page_context import place_asked


@require_GET
def rule_list(request):
    """All rules with filter, and the version tables they use."""
    require(request.user, Can.VIEW_INTERNAL)
    tables = [{"name": name, "source": source, "columns": list(table(name)[0]),
               "rows": [list(row.values()) for row in table(name)]}
              for name, source in SOURCES.items()]
    return render(request, "workers/rules.html", {
        "rules": filtered_rules(request.GET), "is_filtered": any(request.GET.values()),
        "families": FAMILIES, "severities": SEVERITIES,
        "version": RULES_VERSION, "tables": tables, "citations": CITED})


@require_GET
def scan_list(request):
    require(request.user, Can.VIEW_INTERNAL)
    scans = scanning.scans_visible_to(request.user)
    engagement = Engagement.objects.visible_to(request.user).filter(
        code=request.GET.get("engagement", "")).first()
    if engagement:
        scans = scans.filter(artifact__engagement=engagement)
    return render(request, "workers/scans.html", {
        "page": page_of(scans, request.GET, 30),
        "engagement": engagement, "active": "jobs"})


@require_http_methods(["GET", "POST"])
def scan_new(request):
    """Upload a source archive and scan it."""
    engagement, model, _stage = place_asked(request)
    choices = Engagement.objects.visible_to(request.user)
    if engagement is None and len(choices[:2]) == 1:
        engagement = choices[0]
    require(request.user, Can.WORK, engagement)
    if engagement is None:
        return render(request, "workers/scan_form.html", {"choices": offered(choices)})
    form = ScanForm(request.POST or None, request.FILES or None, engagement=engagement,
                    initial={"model": model})
    if form.is_valid():
        scan = attempt_form(form, lambda: scanning.scan_upload(
            actor=request.user, engagement=engagement, **form.cleaned_data))
        if scan:
            return redirect("workers:scan", scan.pk)
    return render(request, "workers/scan_form.html", {
        "form": form, "engagement": engagement, "model": model})


def _scan(request, pk: int) -> StoredReading:
    require(request.user, Can.VIEW_INTERNAL)
    return get_object_or_404(scanning.scans_visible_to(request.user), pk=pk)


@require_GET
def scan_page(request, pk):
    """Totals, effort and findings of one scan."""
    scan = _scan(request, pk)
    findings = scanning.filtered_findings(scan, request.GET)
    shown = {entry["rule"] for entry in scan.values.get("findings", [])}
    return render(request, "workers/scan.html", {
        "scan": scan, "values": scan.values, "artifact": scan.artifact,
        "page": Paginator(findings, 100).get_page(request.GET.get("page")),
        "effort": [scanning.described(row) for row in scan.values.get("effort", [])],
        "hits": [hit for hit in rule_checks.hits_of(scan.artifact.rules) if hit.rule not in shown],
        "checks": CHECKS.values(), "severities": SEVERITIES})


@require_GET
def scan_patch(request, pk):
    """The automatic-migration patch as a file."""
    scan = _scan(request, pk)
    return HttpResponse(scanning.migration_patch(scan.artifact),
                        content_type="text/x-diff; charset=utf-8",
                        headers={"Content-Disposition": f'attachment; filename="npu-{pk}.patch"'})
