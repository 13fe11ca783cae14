"""What scans and migration analyses found in the sources of each model (DOMAIN 9.6, ch. 4)."""

from collections import Counter

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
from engagements.stages import Stage
from engagements.text.text_joining import bracketed, labelled, listed
from workers.models import ApiRoute, StoredReading

KINDS = ("migration_analysis", "source_scan")
TABLES = ("unsupported_api", "unknown_api", "cuda_op_list", "api_precision_advice",
          "api_performance_advice")
MOST_LISTED = 60


def newest_tables(model: MigratedModel) -> dict[str, StoredReading]:
    """The newest reading of each table of the model's analyses."""
    found = {}
    readings = StoredReading.objects.filter(artifact__model=model, kind="migration_analysis")
    for reading in readings.order_by("pk").select_related("artifact"):
        if reading.values.get("table") in TABLES:
            found[reading.values["table"]] = reading
    return found


def support(source: Source) -> dict:
    """Tables and figure on support: counts per model, and each item with its route."""
    tables = {model: newest_tables(model) for model in source.models}
    counts = {model: {name: _count(reading) for name, reading in found.items()}
              for model, found in tables.items()}
    return {"support": _summary(source, tables, counts), "gaps": _gaps(source, tables)}


def _count(reading: StoredReading) -> int:
    return len(reading.values.get("apis") or {}) or int(reading.values.get("rows") or 0)


def _titles() -> dict[str, str]:
    return {"unsupported_api": capfirst(_("unsupported")), "unknown_api": capfirst(_("unknown")),
            "cuda_op_list": _("CUDA operators"),
            "api_precision_advice": capfirst(_("accuracy advice")),
            "api_performance_advice": capfirst(_("performance advice"))}


def _summary(source: Source, tables: dict, counts: dict) -> dict:
    rows = [[model.code, *(counts[model].get(name, 0) if tables[model] else None
                           for name in TABLES),
             ", ".join(sorted({f"E{r.artifact_id}" for r in tables[model].values()}))]
            for model in source.models]
    return {**table(lambda: _("APIs and operators by model"), [
        column(lambda: _("Model"), "code"),
        *(column(lambda name=name: _titles()[name], "number", is_required=True)
          for name in TABLES),
        column(lambda: _("Evidence"), is_required=True)], rows),
        "cure": f"{reverse('workers:jobs')}?engagement={source.engagement.code}"}


def _gaps(source: Source, tables: dict) -> dict:
    """Each API or operator once, with the models that use it and the route that follows."""
    users: dict[tuple[str, str], list[str]] = {}
    hints: dict[tuple[str, str], Counter] = {}
    for model, found in tables.items():
        for name in TABLES[:3]:
            values = found[name].values if name in found else {}
            for api, uses in (values.get("apis") or {}).items():
                users.setdefault((name, api), []).append(model.code)
                hints.setdefault((name, api), Counter())[model.code] += int(uses)
    routes = _recorded_routes(source)
    rows = [[api, both(lambda n=name: _titles()[n]), codes_of(models, source),
             sum(hints[name, api].values()),
             both(lambda n=name, a=api, m=models: _route_text(n, a, m, routes))]
            for (name, api), models in list(users.items())[:MOST_LISTED]]
    return table(lambda: _("What needs work, and its route"), [
        column(lambda: _("API or operator")), column(lambda: _("Class")),
        column(lambda: _("Models")), column(lambda: _("Uses"), "number"),
        column(lambda: _("Route"))], rows,
                 empty=lambda: _("The analyses found nothing that needs work."))


def _recorded_routes(source: Source) -> dict[tuple[str, str], ApiRoute]:
    """The route in force by code of the model and API."""
    rows = ApiRoute.objects.filter(model__in=source.models).select_related("model", "decided_by")
    return {(row.model.code, row.api): row for row in rows.order_by("pk")}


def _route_text(name: str, api: str, models: list[str], routes: dict) -> str:
    """What was decided, with reason and who; what is usual where nothing was."""
    decided = dict.fromkeys(
        labelled(row.get_route_display(), f"{row.reason}{bracketed(row.decided_by)}")
        for model in models if (row := routes.get((model, api))))
    without = [model for model in models if (model, api) not in routes]
    if without:
        decided[_("not decided for %(models)s; usual: %(route)s") % {
            "models": listed(without), "route": _route(name)}] = None
    return "\n".join(decided)


def _route(name: str) -> str:
    return {"unsupported_api": _("Replace by a supported API; otherwise develop or run on CPU"),
            "unknown_api": _("Try on the NPU; then treat as supported or unsupported"),
            "cuda_op_list": _("Develop as an Ascend C operator, or replace by framework code"),
            }[name]


def support_figure(source: Source) -> dict:
    """Bars of what needs work per model: a Vega-Lite specification per language."""
    rows = [(model.code, name, _count(reading)) for model in source.models
            for name, reading in newest_tables(model).items() if name in TABLES[:3]]
    if not rows:
        return {}
    specs = {}
    for language in LANGUAGES:
        with override(language):
            titles = _titles()
            specs[language] = _bars([{"model": m, "class": titles[n], "count": c}
                                     for m, n, c in rows], [titles[n] for n in TABLES[:3]])
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
