"""The performance of the judged models as figures: specifications per language, frozen as facts."""

from collections.abc import Callable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override

from assessments.charts.model_charts import bars_picture, chart_spec, charts_of
from delivery.documents.bilingual import LANGUAGES, both
from delivery.reports.facts.source import Source
from engagements.models import MigratedModel

CAPTIONS = {
    "bars": gettext_noop("%(model)s, before, after and target per metric"),
    "runs": gettext_noop("%(model)s, first run, newest run and target per metric"),
    "steps": gettext_noop("%(model)s, step time by computing, communication and idle time"),
    "profiles": gettext_noop("%(model)s, mean step time of each profile"),
    "operators": gettext_noop("%(model)s, operators that take most time"),
    "scaling": gettext_noop("%(model)s, throughput over the number of cards"),
    "rounds": gettext_noop("%(model)s, gains of the optimisation rounds"),
}


def performance_figures(source: Source) -> list[dict]:
    """One entry per chart that a model with a criterion has data for, in the order of CHARTS.

    A value without another one beside it stands in the results, and needs no picture.
    """
    models = {criterion.model_id: criterion.model for criterion, _verdict in source.judged}
    return [entry for model in models.values() for name in charts_of(model)
            if (entry := _figure(source, model, name))]


def _figure(source: Source, model: MigratedModel, name: str) -> dict | None:
    bars = source.bars(model) if name == "bars" else []
    if name == "bars" and not any(entry.is_compared for entry in bars):
        return None
    specs = _in_each(lambda: bars_picture(bars) if name == "bars" else chart_spec(model, name))
    if specs is None:
        return None
    shown = "runs" if name == "bars" and not any(entry.is_of_rounds for entry in bars) else name
    return {"key": f"{name}-{model.pk}", "spec": specs,
            "caption": both(lambda: _(CAPTIONS[shown]) % {"model": model.code})}


def _in_each(make: Callable[[], dict | None]) -> dict[str, dict] | None:
    """The picture per language; without data for the first there is none for the others."""
    specs = {}
    for language in LANGUAGES:
        with override(language):
            if (spec := make()) is None:
                return None
            specs[language] = spec
    return specs
