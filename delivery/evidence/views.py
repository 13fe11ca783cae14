"""Making and downloading evidence bundles."""

from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.evidence import services
from delivery.evidence.models import EvidenceBundle
from delivery.evidence.verifier_file import NAME, verifier_file
from delivery.reports.models import Document
from engagements.audit import download_log
from engagements.models import Engagement
from engagements.web.form_actions import attempt


@require_POST
def bundle_build(request, pk):
    document = get_object_or_404(
        Document.objects.visible_to(request.user).select_related("engagement"), pk=pk)
    evidence = [row["id"] for row in document.snapshot.get("evidence", [])]
    chosen = request.POST.getlist("withheld")
    withheld = evidence if "all" in chosen else [pk for pk in evidence if str(pk) in chosen]
    attempt(request, lambda: services.build_bundle(
        actor=request.user, engagement=document.engagement, document=document,
        withheld=withheld), _("The evidence bundle is stored."))
    return redirect("reports:document", pk)


@require_GET
def bundle(request, pk):
    """A stored evidence bundle as a download."""
    found = get_object_or_404(EvidenceBundle.objects.select_related("document"), pk=pk,
                              engagement__in=Engagement.objects.visible_to(request.user))
    try:
        stream = found.file.open("rb")
    except OSError as error:
        raise Http404 from error
    name = f"{found.document.number}-V{found.document.version}-evidence.zip"
    return download_log.of(FileResponse(stream, as_attachment=True, content_type="application/zip",
                                        filename=name), found.document)


@require_GET
def verifier(request):
    """The program that checks bundles offline, as a download: to be handed out with them."""
    return HttpResponse(verifier_file(), content_type="application/octet-stream",
                        headers={"Content-Disposition": f'attachment; filename="{NAME}"'})
