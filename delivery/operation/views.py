"""Health for load balancers, figures for Prometheus and for operators."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_GET

from delivery.operation import heartbeat, readiness
from delivery.operation.dependents import dependents_of
from delivery.operation.figures import FIGURES, Figure, read_figures
from delivery.operation.metrics import exposition
from delivery.operation.models import DamagedFile, FileRound
from engagements import database_clock
from engagements.access import refuse_role
from engagements.models import Role
from engagements.web.paging import page_of

OPERATORS = (Role.ADMINISTRATOR, Role.OPERATOR)
FILES_PER_PAGE = 20


@login_not_required
@require_GET
def alive(request):
    """This process answers; nothing else is asked."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_GET
def ready(request):
    """200 when every part works that pages need, else 503; strangers learn which part, not why.
    Without Redis or a clock process pages are served all the same."""
    failed = readiness.failures()
    found = {name: "failed" if name in failed else "ok" for name in readiness.PARTS}
    if "database" not in failed:
        found["clock"] = "ok" if heartbeat.clock_age_seconds() < heartbeat.LATE else "stopped"
        found["time"] = "wrong" if any(database_clock.noted_ahead().values()) else "ok"
    return JsonResponse(found, status=503 if failed.keys() - readiness.NOT_NEEDED else 200)


@login_not_required
@require_GET
def metrics(request):
    """For whoever holds METRICS_TOKEN; without one there is no such page."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not settings.METRICS_TOKEN or not constant_time_compare(given, settings.METRICS_TOKEN):
        raise Http404
    return exposition()


@require_GET
def operation(request):
    """The same figures, and which parts work."""
    _require_operator(request)
    found, failed = read_figures(), readiness.failures()
    shown = [(figure, found[figure.name]) for figure in FIGURES if not figure.elsewhere]
    return render(request, "delivery/operation/operation.html", {
        "parts": [(readiness.LABELS[name], failed.get(name, "")) for name in readiness.PARTS],
        "figures": [(figure, values) for figure, values in shown
                    if not _is_nothing(figure, values)],
        "none": [figure.title for figure, values in shown if _is_nothing(figure, values)],
        "never": heartbeat.NEVER})


def _is_nothing(figure: Figure, values: list) -> bool:
    """Whether it counts nothing: only zeros, or no group; a sole figure without a value is not
    known."""
    return (bool(values) or bool(figure.label)) and not any(number for _label, number in values)


@require_GET
def files(request):
    """Stored files that are damaged, what rests on them, and how far the walk through all is."""
    _require_operator(request)
    page = page_of(DamagedFile.objects.open(), request.GET, FILES_PER_PAGE)
    return render(request, "delivery/operation/files.html", {
        "page": page, "damaged": [(damage, dependents_of(damage.name)) for damage in page],
        "rate": settings.SCRUB_MB_PER_MINUTE,
        "walk": FileRound.objects.filter(is_open=True).first(),
        "last": FileRound.objects.filter(is_open=False).first()})


def _require_operator(request) -> None:
    if request.user.role not in OPERATORS:
        refuse_role(request.user, OPERATORS)
