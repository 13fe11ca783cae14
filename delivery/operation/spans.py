"""Spans of messages that always end, and an exporter that leaves contents out."""

from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.propagate import inject
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import SpanKind, Status

ADDRESSES = ("http.url", "http.target", "url.full")
EXCEPTION_TYPE = "exception.type"


class MessageTracing(CeleryInstrumentor):
    """Ends the span of a message before it is sent.

    The library ends it afterwards if it finds the task's class, which a portal does not import,
    and if the broker answered; else the span stays the parent of what follows and is never sent.
    """

    def _trace_before_publish(self, *_args, sender: str, headers: dict, **_more) -> None:
        with self._tracer.start_as_current_span(f"apply_async/{sender}", kind=SpanKind.PRODUCER,
                                                attributes={"celery.task_name": sender}):
            inject(headers)

    @staticmethod
    def _trace_after_publish(*_args, **_more) -> None:
        """Nothing is left to end."""


class ReticentExporter(OTLPSpanExporter):
    """Sends no query of an address, and of an exception only its type.

    Queries hold names that were searched for; messages of PostgreSQL quote the row.
    """

    def export(self, spans: Sequence[ReadableSpan]):
        return super().export([_without_contents(span) for span in spans])


def _without_contents(span: ReadableSpan) -> ReadableSpan:
    attributes = {key: value.partition("?")[0] if key in ADDRESSES else value
                  for key, value in (span.attributes or {}).items() if key != "url.query"}
    events = [Event(event.name, {EXCEPTION_TYPE: event.attributes[EXCEPTION_TYPE]}, event.timestamp)
              for event in span.events if EXCEPTION_TYPE in event.attributes]
    return ReadableSpan(
        name=span.name, context=span.context, parent=span.parent, resource=span.resource,
        attributes=attributes, events=events, links=span.links, kind=span.kind,
        status=Status(span.status.status_code), start_time=span.start_time, end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope)
