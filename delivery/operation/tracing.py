"""Traces of requests, tasks and statements for a collector that speaks OTLP over HTTP.

Off unless OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT names one; these and
OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER are read by OpenTelemetry
itself (specification 1.x, "Environment Variable Specification").
"""

import os

from django.core.exceptions import ImproperlyConfigured

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# Health checks say nothing; the others have a secret in their address.
LEFT_OUT = ("healthz", "readyz", "metrics", "invitation/", "password/link/", "plan-calendar/",
            "account/provider/")


def is_wanted() -> bool:
    """Whether the environment names a collector."""
    return any(os.environ.get(name) for name in ENDPOINTS)


def start(version: str) -> None:
    """Trace requests, Celery tasks and PostgreSQL statements (without their parameters) of this
    process and of those it forks.

    Raises ImproperlyConfigured where the packages are missing.
    """
    try:
        from opentelemetry import trace
        from opentelemetry.instrumentation.django import DjangoInstrumentor
        from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        from delivery.operation.spans import MessageTracing, ReticentExporter
    except ImportError as error:
        raise ImproperlyConfigured(
            f"{ENDPOINTS[0]} needs packages: pip install -r requirements-observation.txt"
        ) from error
    facts = {SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "delivery-desk"),
             SERVICE_VERSION: version}
    provider = TracerProvider(resource=Resource.create(facts))
    provider.add_span_processor(BatchSpanProcessor(ReticentExporter()))
    trace.set_tracer_provider(provider)
    DjangoInstrumentor().instrument(excluded_urls=",".join(LEFT_OUT))
    MessageTracing().instrument()
    PsycopgInstrumentor().instrument()
