"""Configuration differences and the reviewed allow-list."""

from django.contrib import messages
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from assessments import services
from assessments.accuracy import allowlist
from assessments.accuracy.readings import CONFIG_READERS
from assessments.forms import AllowPatternForm
from assessments.models import AllowedDifference
from assessments.presentation import verdict_rows
from assessments.views.lookups import visible_file
from engagements.access import Can, allowed
from engagements.web.form_actions import attempt
from toolreaders.number_parsing import whole_number
from workers.models import Artifact, StoredReading


def _reading(artifact: Artifact) -> StoredReading:
    found = artifact.readings.filter(reader__in=CONFIG_READERS).first()
    if found is None:
        raise Http404
    return found


@require_GET
def config_check(request, pk):
    """Every difference, and what the allow-list says of it."""
    artifact = visible_file(request, pk)
    reading = _reading(artifact)
    entries = allowlist.entries_of(artifact.engagement)
    differences = allowlist.compared(reading.values, entries)
    verdict = allowlist.judged(reading.values, differences)
    return render(request, "assessments/config_check.html", {
        "artifact": artifact, "engagement": artifact.engagement, "active": "accuracy",
        "reading": reading, "differences": differences, "entries": entries, "verdict": verdict,
        "sentence": verdict_rows.config_sentence(verdict),
        "verdict_label": verdict_rows.outcome_label(verdict.outcome),
        "has_open": any(d.state == allowlist.OPEN for d in differences),
        "may_propose": allowed(request.user, Can.WORK),
        "may_review": allowed(request.user, Can.REVIEW) or allowed(request.user, Can.MANAGE),
        "pattern_form": AllowPatternForm()})


@require_POST
def config_propose(request, pk):
    """Propose the ticked differences, or a pattern, for the allow-list."""
    artifact = visible_file(request, pk)
    if "item" in request.POST:
        _propose_pattern(request, artifact)
    else:
        attempt(request, lambda: _propose_ticked(request, artifact),
                _("Proposed. The entries take effect once someone else has reviewed them."))
    return redirect("assessments:config_check", pk)


def _propose_pattern(request, artifact: Artifact) -> None:
    form = AllowPatternForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("An entry needs a sheet, an item and a reason."))
        return
    attempt(request, lambda: services.propose_difference(
        actor=request.user, engagement=artifact.engagement, is_any_value=True,
        **form.cleaned_data),
            _("Proposed. The entries take effect once someone else has reviewed them."))


def _propose_ticked(request, artifact: Artifact) -> list[AllowedDifference]:
    ticked = {whole_number(text) for text in request.POST.getlist("numbers")}
    differences = allowlist.compared(_reading(artifact).values, [])
    return services.propose_differences(
        actor=request.user, engagement=artifact.engagement,
        differences=[d for d in differences if d.number in ticked],
        reason=request.POST.get("reason", ""))


def _entry(request, pk: int, entry: int) -> AllowedDifference:
    artifact = visible_file(request, pk)
    rows = AllowedDifference.objects.filter(engagement=artifact.engagement)
    return get_object_or_404(rows.select_related("engagement"), pk=entry)


@require_POST
def config_review(request, pk, entry):
    """Let a proposed entry count."""
    found = _entry(request, pk, entry)
    attempt(request, lambda: services.review_difference(actor=request.user, entry=found),
            _("Reviewed: the entry is now in effect."))
    return redirect("assessments:config_check", pk)


@require_POST
def config_withdraw(request, pk, entry):
    """End an entry."""
    found = _entry(request, pk, entry)
    attempt(request, lambda: services.withdraw_difference(actor=request.user, entry=found),
            _("Entry withdrawn."))
    return redirect("assessments:config_check", pk)
