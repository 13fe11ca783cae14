"""The chart of a judged loss curve, as specification, detail and picture."""

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from assessments import charts, queries
from assessments.presentation import curve_pairs
from assessments.views.lookups import visible_criterion
from toolreaders.base import ReadError
from toolreaders.number_parsing import whole_number
from workers.models import Artifact, Job


def _chart_parts(request, pk: int):
    row = visible_criterion(request, pk)
    verdict = queries.newest_verdict(row)
    if not charts.can_be_drawn(row, verdict):
        raise Http404
    return row, verdict


@require_GET
def curve_spec(request, pk):
    """The chart as a Vega-Lite specification."""
    row, verdict = _chart_parts(request, pk)
    try:
        return JsonResponse(charts.criterion_chart_spec(row, verdict))
    except ReadError as error:
        raise Http404(error.message) from error


@require_GET
def job_curve_spec(request, pk):
    """The chart of the two logs that a job compared, as a Vega-Lite specification."""
    job = get_object_or_404(Job.objects.visible_to(request.user), pk=pk)
    if not curve_pairs.compared_two_logs(job):
        raise Http404
    try:
        return JsonResponse(charts.job_chart_spec(job))
    except (ReadError, Artifact.DoesNotExist) as error:
        raise Http404(str(error)) from error


@require_GET
def curve_range(request, pk):
    """Detail of both curves between two steps, thinned anew with every extreme kept."""
    row, verdict = _chart_parts(request, pk)
    first, last = (whole_number(request.GET.get(name)) for name in ("first", "last"))
    if first is None or last is None:
        return JsonResponse({"detail": _("Give the first and the last step.")}, status=400)
    try:
        return JsonResponse(charts.curve_detail(row, verdict, first, last))
    except ReadError as error:
        raise Http404(error.message) from error


@require_GET
def curve_svg(request, pk):
    """The chart as a picture, for browsers without scripts and for download."""
    row, verdict = _chart_parts(request, pk)
    try:
        svg = charts.criterion_chart_svg(row, verdict)
    except ReadError as error:
        raise Http404(error.message) from error
    return HttpResponse(svg, content_type="image/svg+xml")
