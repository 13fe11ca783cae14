"""The figures as Prometheus reads them, beside those of requests."""

import os

from django.http import HttpResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from delivery.operation.figures import FIGURES, read_figures

REQUESTS = Counter("desk_requests_total", "Answers of the portal", ["method", "route", "status"])
REQUEST_SECONDS = Histogram("desk_request_seconds", "How long answers took", ["route"],
                            buckets=(.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))


class FigureCollector(Collector):
    """Reads the figures when it is asked."""

    def describe(self) -> list:
        return []

    def collect(self):
        found = read_figures()
        for figure in FIGURES:
            family = GaugeMetricFamily(figure.name, figure.name.replace("_", " "),
                                       labels=_words(figure.label))
            for label, number in found.get(figure.name, ()):
                family.add_metric(_words(label), number)
            yield family


def _words(label: str | tuple[str, ...]) -> list[str]:
    return list(label) if isinstance(label, tuple) else [label] if label else []


def exposition() -> HttpResponse:
    """All figures as text. Portals of several processes share theirs in the folder that
    PROMETHEUS_MULTIPROC_DIR names."""
    own = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        own = CollectorRegistry()
        multiprocess.MultiProcessCollector(own)
    figures = CollectorRegistry()
    figures.register(FigureCollector())
    return HttpResponse(generate_latest(own) + generate_latest(figures),
                        content_type=CONTENT_TYPE_LATEST)
