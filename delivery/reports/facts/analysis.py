"""What scans and migration analyses found in the sources of each model (DOMAIN 9.6, ch. 4)."""

from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.documents.bilingual import LANGUAGES, both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from delivery.reports.facts.survey import codes_of
from engagements.models import MigratedModel
from engagements.stages import Scope, Stage
from engagements.text.text_joining import bracketed, labelled, listed
from workers.models import StoredReading
from workers.required_jobs import REQUIRED_JOBS
from workers.unresolved_apis import (
    ApiClass,
    FoundApi,
    analyses_in_force,
    exhaustive_classes,
    found_apis,
    is_whole,
)

KINDS = ("migration_analysis", "source_scan", "tf_conversion")
ADVICE = ("api_precision_advice", "api_performance_advice")
COUNTED = (ApiClass.UNSUPPORTED, ApiClass.UNKNOWN, ApiClass.CUDA)
MOST_LISTED = 60


@dataclass(frozen=True)
class Analysed:
    """A model with the analyses in force, of whichever tool its route has, and what they name."""

    model: MigratedModel
    readings: list[StoredReading]
    found: list[FoundApi]

    def count(self, kind: ApiClass) -> int | None:
        """How many; None where no analysis that came to its end says anything about the class."""
        if not any(kind in exhaustive_classes(reading) and is_whole(reading)
                   for reading in self.readings):
            return None
        return sum(entry.kind == kind for entry in self.found)

    def advice(self, name: str) -> str:
        """How many APIs the analysis advises on; a dash where its tool gives no such advice."""
        tables = [reading.values for reading in self.readings
                  if reading.values.get("table") == name]
        return str(max(len(values.get("apis") or {}) or int(values.get("rows") or 0)
                       for values in tables)) if tables else "–"

    @property
    def is_asked(self) -> bool:
        """Whether the route requires an analysis in the survey."""
        return any(required.stage == Stage.SURVEY and required.holds_for(self.model)
                   for required in REQUIRED_JOBS)

    @property
    def is_done(self) -> bool:
        """Whether an analysis came to its end; a trial conversion is none of source code."""
        return any(is_whole(reading) for reading in self.readings
                   if reading.kind != "conversion_log" or not self.is_asked)


def support(source: Source) -> dict:
    """Tables on support: counts per model, and each API or operator with its route."""
    analysed = _analysed(source)
    return {"support": _summary(source, analysed), "gaps": _gaps(source, analysed)}


def _analysed(source: Source) -> list[Analysed]:
    return [Analysed(model, list(analyses_in_force(model)), found_apis(model))
            for model in source.models]


def _titles() -> dict[str, str]:
    return {ApiClass.UNSUPPORTED: capfirst(_("unsupported")),
            ApiClass.UNKNOWN: capfirst(_("unknown")), ApiClass.CUDA: _("CUDA operators"),
            ADVICE[0]: capfirst(_("accuracy advice")), ADVICE[1]: capfirst(_("performance advice"))}


def _summary(source: Source, analysed: list[Analysed]) -> dict:
    return {**table(lambda: _("APIs and operators by model"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Framework and route")),
        column(lambda: _("Analysed with"), is_required=True),
        *(column(lambda name=name: _titles()[name], "number") for name in (*COUNTED, *ADVICE)),
        column(lambda: _("Evidence"))], [_line(entry) for entry in analysed], is_dense=True),
        "cure": f"{reverse('workers:jobs')}?engagement={source.engagement.code}"}


def _line(entry: Analysed) -> list:
    counts = ["–" if (n := entry.count(kind)) is None else n for kind in COUNTED]
    return [entry.model.code, both(lambda: _route_of(entry.model)), both(lambda: _tools(entry)),
            *counts, *map(entry.advice, ADVICE),
            ", ".join(f"E{pk}" for pk in sorted({r.artifact_id for r in entry.readings})) or "–"]


def _route_of(model: MigratedModel) -> str:
    routes = [model.get_training_route_display() if model.scope != Scope.INFERENCE else "",
              model.get_inference_route_display() if model.scope != Scope.TRAINING else ""]
    return "\n".join(filter(None, [model.framework or _("framework not recorded"), *routes]))


def _tools(entry: Analysed) -> str:
    """The tools; why there is none; blank where the route requires one, which stops the issuing."""
    if entry.is_done:
        return listed(dict.fromkeys(
            _("scan of the source") if reading.kind == "source_scan" else reading.tool
            for reading in entry.readings))
    return "" if entry.is_asked else _("not analysed: the route requires no analysis")


def _gaps(source: Source, analysed: list[Analysed]) -> dict:
    """Each API or operator once, with the models that use it and the route that follows."""
    users: dict[tuple[ApiClass, str], list[tuple[str, FoundApi]]] = {}
    for entry in analysed:
        for api in entry.found:
            users.setdefault((api.kind, api.api), []).append((entry.model.code, api))
    rows = [[api, both(lambda k=kind: _titles()[k]), codes_of([code for code, _a in uses], source),
             sum(found.uses for _code, found in uses),
             both(lambda k=kind, u=uses: _route_text(k, u))]
            for (kind, api), uses in list(users.items())[:MOST_LISTED]]
    return table(lambda: _("What needs work, and its route"), [
        column(lambda: _("API or operator")), column(lambda: _("Class")),
        column(lambda: _("Models")), column(lambda: _("Uses"), "number"),
        column(lambda: _("Route"))], rows, is_dense=True, empty=lambda: _nothing(analysed))


def _nothing(analysed: list[Analysed]) -> str:
    """Whose sources were searched without a finding; what was not searched is said in the table."""
    searched = [entry.model.code for entry in analysed if entry.is_done]
    if not searched:
        return _("No source was analysed, so what needs work is not known.")
    return _("The analyses of %(models)s name nothing that needs work.") % {
        "models": listed(searched)}


def _route_text(kind: ApiClass, uses: list[tuple[str, FoundApi]]) -> str:
    """What was decided, with reason and who; what is usual where nothing was."""
    decided = dict.fromkeys(
        labelled(found.route.get_route_display(),
                 "; ".join(filter(None, [
                     f"{found.route.reason}{bracketed(found.route.decided_by)}",
                     str(found.route.answer)])))
        for _code, found in uses if found.route)
    if without := [code for code, found in uses if not found.route]:
        decided[_("not decided for %(models)s; usual: %(route)s") % {
            "models": listed(without), "route": _usual(kind)}] = None
    return "\n".join(decided)


def _usual(kind: ApiClass) -> str:
    return {ApiClass.UNSUPPORTED: _(
                "Replace by a supported API; otherwise develop or run on CPU"),
            ApiClass.UNKNOWN: _("Try on the NPU; then treat as supported or unsupported"),
            ApiClass.CUDA: _("Develop as an Ascend C operator, or replace by framework code"),
            }[kind]


def support_figure(source: Source) -> dict:
    """Bars of what needs work per model: a Vega-Lite specification per language."""
    rows = [(entry.model.code, kind, entry.count(kind)) for entry in _analysed(source)
            for kind in COUNTED if entry.count(kind) is not None]
    if not rows:
        return {}
    specs = {}
    for language in LANGUAGES:
        with override(language):
            titles = _titles()
            specs[language] = _bars([{"model": m, "class": titles[n], "count": c}
                                     for m, n, c in rows], [titles[n] for n in COUNTED])
    return {"caption": both(lambda: _("APIs and operators that need work, by model")),
            "spec": specs}


def _bars(values: list[dict], classes: list[str]) -> dict:
    font = "Noto Sans CJK SC"
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json", "width": 760, "height": 220,
        "data": {"values": values},
        "mark": {"type": "bar", "width": {"band": 0.55}, "stroke": "#16325c", "strokeWidth": 0.6},
        "encoding": {
            "x": {"field": "model", "type": "nominal", "sort": None, "title": _("Model"),
                  "axis": {"labelAngle": 0}},
            "y": {"field": "count", "type": "quantitative",
                  "title": _("Number of APIs and operators"), "axis": {"tickMinStep": 1}},
            "color": {"field": "class", "type": "nominal", "title": None,
                      "scale": {"domain": classes, "range": ["#16325c", "#6f93c8", "#cfdcf0"]}}},
        "config": {"font": font, "axis": {"labelFont": font, "titleFont": font},
                   "legend": {"labelFont": font, "orient": "top"}, "view": {"stroke": None}}}


def raw_files(source: Source) -> list[dict]:
    """The evidence rows of files that scans and analyses of the survey produced or read."""
    ids = set(StoredReading.objects.filter(
        Q(artifact__job=None) | Q(artifact__job__stage=Stage.SURVEY),
        artifact__engagement=source.engagement, kind__in=KINDS,
    ).values_list("artifact_id", flat=True))
    return [row for row in source.evidence if row["id"] in ids]
