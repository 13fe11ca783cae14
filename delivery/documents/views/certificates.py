"""Page of the certificates of the firm's people."""

from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.documents.forms import CertificateForm
from delivery.documents.models import StaffCertificate
from delivery.documents.services.staff_certificates import add_certificate, remove_certificate
from engagements.access import Can, require
from engagements.audit import download_log
from engagements.models import Role
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of


@require_http_methods(["GET", "POST"])
def certificates(request):
    """All certificates, those that run out named on top; a form for a new one."""
    require(request.user, Can.VIEW_INTERNAL)
    form = CertificateForm(request.POST or None, request.FILES or None, user=request.user)
    if form.is_valid() and attempt_form(form, lambda: add_certificate(
            actor=request.user, **form.cleaned_data)):
        return redirect("documents:certificates")
    rows = StaffCertificate.objects.visible_to(request.user).select_related("person")
    return render(request, "delivery/documents/certificates.html", {
        "page": page_of(rows, request.GET, 50), "form": form,
        "running_out": rows.running_out(timezone.localdate()).count(),
        "is_administrator": request.user.role == Role.ADMINISTRATOR})


@require_POST
def certificate_remove(request, pk):
    row = get_object_or_404(StaffCertificate.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: remove_certificate(actor=request.user, certificate=row),
            _("The certificate is removed."))
    return redirect("documents:certificates")


@require_GET
def certificate_file(request, pk):
    row = get_object_or_404(StaffCertificate.objects.visible_to(request.user), pk=pk)
    if not row.file:
        raise Http404
    return download_log.of(FileResponse(
        row.file.open("rb"), as_attachment=True, filename=row.file_name,
        content_type="application/octet-stream"), row)
