"""Pages of stored files; each view calls one service."""

from django.contrib import messages
from django.http import FileResponse, HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, require
from engagements.audit import download_log
from engagements.web.form_actions import attempt, attempt_form
from workers import rule_checks, services
from workers.artifacts import provenance
from workers.forms.jobs import ArtifactForm, PurposeForm
from workers.labels import reading_kinds
from workers.labels.refusals import refusal_sentence
from workers.models import Artifact
from workers.views.page_context import place_asked


def _artifact(request: HttpRequest, pk: int) -> Artifact:
    return get_object_or_404(Artifact.objects.visible_to(request.user).select_related(
        "job", "model", "engagement", "uploaded_by", "reading_request"), pk=pk)


@require_GET
def artifact_page(request, pk):
    artifact = _artifact(request, pk)
    asked = getattr(artifact, "reading_request", None)
    known = provenance.of(artifact)
    template = "workers/artifact_drawer.html" if request.htmx else "workers/artifact.html"
    return render(request, template, {
        "artifact": artifact, "known": known, "readings": artifact.readings.all(),
        "purpose_form": PurposeForm(initial={"purpose": known.purpose}),
        "reading_request": asked, "refusal": refusal_sentence(asked) if asked else "",
        "hits": rule_checks.hits_of(artifact.rules),
        "rule_counts": rule_checks.counts_of((_("After reading"), artifact.rules))})


@require_GET
def artifact_download(request, pk):
    artifact = _artifact(request, pk)
    return download_log.of(FileResponse(
        artifact.file.open("rb"), as_attachment=True, filename=artifact.name.replace("/", "_"),
        content_type="application/octet-stream"), artifact)


@require_POST
def artifact_read_again(request, pk):
    artifact = _artifact(request, pk)
    attempt(request, lambda: services.read_again(actor=request.user, artifact=artifact),
            _("It is being read with the readers of this release; what earlier ones found is "
              "kept."))
    return redirect("workers:artifact", pk)


@require_POST
def artifact_purpose(request, pk):
    artifact = _artifact(request, pk)
    form = PurposeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose the purpose and enter the reason."))
    else:
        attempt(request, lambda: services.correct_purpose(
            actor=request.user, artifact=artifact, **form.cleaned_data),
            _("The purpose was corrected; verdicts that rest on the file were computed anew."))
    return redirect("workers:artifact", pk)


@require_http_methods(["GET", "POST"])
def artifact_upload(request):
    engagement, model, _stage = place_asked(request)
    require(request.user, Can.WORK, engagement)
    form = ArtifactForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        artifact = attempt_form(form, lambda: services.upload_artifact(
            actor=request.user, engagement=engagement, model=model, **form.cleaned_data))
        if artifact:
            return redirect("workers:artifact", artifact.pk)
    return render(request, "workers/upload.html", {
        "form": form, "engagement": engagement, "model": model,
        "kinds": {kind: str(words) for kind, words in reading_kinds.WORDS.items()}})
