"""The operators of each model's graph, as its ONNX file holds them (DOMAIN 9.6)."""

from collections import Counter

from django.utils.translation import gettext as _

from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from delivery.reports.facts.survey import codes_of
from engagements.text.text_joining import listed
from workers.models import StoredReading

MOST_LISTED = 120


def operators(source: Source) -> dict:
    """Each operator type once: its uses, and the models whose newest graph holds it."""
    newest = _newest_graphs(source)
    uses: Counter = Counter()
    models: dict[str, list[str]] = {}
    for code, reading in newest.items():
        for name, number in reading.values["operators"].items():
            uses[name] += int(number)
            models.setdefault(name, []).append(code)
    rows = [[name, number, codes_of(models[name], source),
             ", ".join(f"E{newest[code].artifact_id}" for code in models[name])]
            for name, number in uses.most_common(MOST_LISTED)]
    if len(uses) > MOST_LISTED:
        rest = len(uses) - MOST_LISTED
        rows.append([both(lambda: _("%(n)d further types: see the graph itself") % {"n": rest}),
                     "", "", ""])
    without = [model.code for model in source.models if model.code not in newest]
    return {**table(lambda: _caption(without), [
        column(lambda: _("Operator")), column(lambda: _("Uses"), "number"),
        column(lambda: _("Models")), column(lambda: _("Evidence"))], rows, is_dense=True,
        empty=lambda: _("No ONNX file of a model is stored, so no graph was read."))}


def _caption(without: list[str]) -> str:
    """The title; where models have no graph it names them."""
    title = _("Operators of the graphs")
    lacking = _("no graph read of %(models)s") % {"models": listed(without)}
    return f"{title} · {lacking}" if without else title


def _newest_graphs(source: Source) -> dict[str, StoredReading]:
    """By model code the newest reading of an ONNX file whose operators were counted."""
    readings = StoredReading.objects.filter(
        artifact__model__in=source.models, kind="onnx_model").order_by("pk").select_related(
        "artifact__model")
    return {r.artifact.model.code: r for r in readings if r.values.get("operators")}
