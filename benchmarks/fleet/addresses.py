"""Addresses of every GET page and API list, with filters, as one person would ask for them."""

from collections.abc import Iterator
from importlib import import_module
from urllib.parse import urlencode

from django.apps import apps
from django.core.exceptions import FieldError
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

OURS = ("people", "portal", "engagements", "workers", "assessments", "documents", "quotes",
        "reports", "acceptance", "evidence", "planning", "notices", "surveys")
LAST = {"page": 10**6}
# Lists over all engagements, with each of their filters. `{…}`: of the person's own engagement.
FILTERS = {
    "portal:home": [{}],
    "portal:search": [{}, {"q": "{code}"}, {"q": "zebra"}, {"q": "巡检"}, {"q": "{customer}"},
                      {"q": "LLM"}, {"q": "#{job}"}],
    "portal:audit": [{}, {"action": "stage.pass"}, {"engagement": "{code}"}, {"text": "LLM"},
                     {"actor": "{user}"}],
    "engagements:list": [{}, {"state": "active"}, {"scope": "full"}, {"q": "{code}"},
                         {"q": "zebra"}, {"q": "巡视"}],
    "workers:jobs": [{}, {"state": "running"}, {"state": "failed"}, {"kind": "{kind}"},
                     {"engagement": "{code}"}, {"node": "{node}"}],
    "workers:queue": [{}], "workers:nodes": [{}], "workers:scans": [{}, {"engagement": "{code}"}],
    "planning:board": [{}, {"state": "submitted"}, {"stage": "survey"}, {"days": "7"},
                       {"blocked": "1"}, {"engagement": "{code}"}, {"q": "LLM"}],
    "quotes:list": [{}, {"state": "issued"}, {"state": "draft"}, {"q": "{code}"},
                    {"q": "zebra"}],
    "reports:list": [{}, {"state": "draft"}, {"kind": "TR"}, {"q": "{code}"}],
    "notices:inbox": [{}, {"unread": "1"}, {"engagement": "{code}"}],
    "people:list": [{}, {"q": "zebra"}], "people:customers": [{}, {"q": "{customer}"}],
}
# Pages of one row: the table whose row they show, where the route's name does not say it.
ROWS = {
    "people:person": "engagements.User", "people:customer": "engagements.Customer",
    "reports:branding": "engagements.Customer", "notices:channel_edit": "notices.Channel",
    "workers:login_new": "workers.Node", "workers:login_edit": "workers.NodeLogin",
    "workers:import": "workers.NodeImport", "workers:node_edit": "workers.Node",
    "workers:api_routes": "engagements.MigratedModel", "workers:job_log": "workers.Job",
    "workers:scan": "workers.Artifact",
    "assessments:definition": "assessments.MetricDefinition",
    "assessments:definition_new": "assessments.MetricDefinition",
    "assessments:model_performance": "engagements.MigratedModel",
    "assessments:round_new": "engagements.MigratedModel",
    "quotes:import": "quotes.PriceImport", "quotes:rate_card": "quotes.RateCard",
    "acceptance:review": "reports.Document", "acceptance:signing": "reports.Document",
    "reports:texts": "reports.Document", "reports:progress": "reports.Document",
    "planning:issue": "planning.ProjectIssue", "planning:weekly": "planning.WeeklyReport",
    "planning:change": "planning.ChangeRequest", "planning:change_edit": "planning.ChangeRequest",
    "planning:time_correct": "planning.TimeEntry", "planning:meeting_edit": "planning.Meeting",
    "quotes:terms": "quotes.Quote", "quotes:payment": "quotes.Quote",
    "quotes:conditions": "quotes.Quote", "quotes:line_new": "quotes.Quote",
    "evidence:bundle": "evidence.EvidenceBundle", "workers:chain": "workers.JobChain",
    "workers:chain_run": "workers.ChainRun", "planning:effort_line": "planning.EffortLine",
}
# Files and charts: their cost is that of the file, measured by other benchmarks; fragments that
# a page of its own asks for; and the pages that only answer a form. The portfolio's export writes
# a row per engagement to a file, in constant memory.
LEFT_OUT = {
    "portal:portfolio_export",
    "portal:gallery", "workers:job_log_file", "workers:job_merged_log", "workers:job_log_search",
    "workers:job_log_lines", "workers:artifact_download", "workers:scan_patch",
    "assessments:curve_spec", "assessments:curve_svg", "assessments:curve_range",
    "assessments:performance_chart", "assessments:performance_picture", "quotes:pdf",
    "quotes:xlsx", "reports:preview", "reports:file", "planning:plan_file",
    "planning:baseline_file", "planning:pdf", "surveys:xlsx", "surveys:version_file",
    "surveys:draft_question", "acceptance:scan", "acceptance:notice_file",
    "acceptance:power_of_attorney_file", "acceptance:retest", "assessments:definition_preview",
    "reports:chain", "reports:standard_text", "assessments:operator",
}


def routes(resolver: URLResolver | None = None, namespace: str = ""
           ) -> Iterator[tuple[str, URLPattern]]:
    """Name and pattern of every route of the product's pages."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from routes(entry, entry.namespace or namespace)
        elif isinstance(entry, URLPattern) and entry.name and namespace in OURS:
            yield f"{namespace}:{entry.name}", entry


class Addresses:
    """What one person may ask for.

    Args:
        person: who asks; her newest engagement under way gives the arguments of its pages.
    """

    def __init__(self, person) -> None:
        from engagements.models import Engagement
        from workers.models import Job, Node

        self.person = person
        visible = Engagement.objects.visible_to(person).filter(state="active")
        self.engagement = visible.select_related("customer").order_by("-created_at").first()
        self.model = self.engagement.models.first()
        job = Job.objects.filter(engagement=self.engagement).order_by("pk").first()
        self.words = {"code": self.engagement.code, "customer": self.engagement.customer.name,
                      "job": job.pk, "kind": job.kind, "user": person.pk,
                      "node": Node.objects.order_by("-pk").first().name}

    def all(self) -> Iterator[tuple[str, str]]:
        """Name and address of every page and API list."""
        yield from self._pages()
        yield from self._api_lists()

    # Pages -------------------------------------------------------------------------------------

    def _pages(self) -> Iterator[tuple[str, str]]:
        for name, pattern in dict(routes()).items():
            if name in LEFT_OUT or (arguments := self._arguments(name, pattern)) is None:
                continue
            try:
                path = reverse(name, kwargs=arguments)
            except NoReverseMatch:
                continue
            yield from self._asked(name, path)

    def _asked(self, name: str, path: str) -> Iterator[tuple[str, str]]:
        for asked in FILTERS.get(name, [{}]):
            words = {key: value.format(**self.words) for key, value in asked.items()}
            label = f"{name} {urlencode(asked, safe='{}#')}".strip()
            yield label, f"{path}?{urlencode(words)}" if words else path
            if name in FILTERS:
                yield f"{label} last page", f"{path}?{urlencode({**words, **LAST})}"

    def _arguments(self, name: str, pattern: URLPattern) -> dict | None:
        """Of the person's engagement; None where it has no such row."""
        arguments = {}
        for argument in pattern.pattern.regex.groupindex:
            arguments[argument] = self._argument(name, pattern, argument)
        return None if None in arguments.values() else arguments

    def _argument(self, name: str, pattern: URLPattern, argument: str):
        of_engagement = str(pattern.pattern).startswith("<str:code>") or "engagements/" in str(
            pattern.pattern)
        known = {"code": self.engagement.code if of_engagement or argument == "code" else None,
                 "model": self.model.code, "model_code": self.model.code, "stage": "survey",
                 "section": "project", "version": 1, "language": "zh-hans"}
        return self._row(name) if argument in ("pk", "other") else known.get(argument)

    def _row(self, name: str) -> int | None:
        app, route = name.split(":")
        label = ROWS.get(name)
        model = apps.get_model(label) if label else next(
            (one for one in apps.get_app_config(_label(app)).get_models()
             if one._meta.model_name == route.split("_")[0]), None)
        return newest_key(model, self.engagement) if model else None

    # API -----------------------------------------------------------------------------------------

    def _api_lists(self) -> Iterator[tuple[str, str]]:
        from delivery.api import APPS

        for app in APPS:
            for prefix, viewset, _name in import_module(f"{app}.api").routes:
                if hasattr(viewset, "list"):
                    yield from self._api_list(f"/api/v1/{prefix}/", viewset)

    def _api_list(self, path: str, viewset) -> Iterator[tuple[str, str]]:
        board = FILTERS["planning:board"] if path.endswith("/board/") else [{}]
        for asked in FILTERS["portal:search"] if path.endswith("/search/") else board:
            words = {key: value.format(**self.words) for key, value in asked.items()}
            label = f"API {path[8:-1]} {urlencode(asked, safe='{}#')}".strip()
            yield label, f"{path}?{urlencode(words)}" if words else path
        yield f"API {path[8:-1]} last page", f"{path}?page=last"
        for field in getattr(viewset, "filterset_fields", None) or ():
            if (value := self._value(viewset.queryset.model, field)) is not None:
                yield f"API {path[8:-1]} {field}", f"{path}?{urlencode({field: value})}"

    def _value(self, model, field: str):
        key = newest_key(model, self.engagement)
        row = model._base_manager.filter(pk=key).values_list(field, flat=True)
        return next(iter(row), None)


def _label(namespace: str) -> str:
    return {"people": "engagements"}.get(namespace, namespace)


def newest_key(model, engagement) -> int | None:
    """The newest row of the table that belongs to the engagement; else the newest at all."""
    rows = model._base_manager.order_by("-pk")
    for path in ("engagement", "model__engagement", "record__model__engagement",
                 "document__engagement", "quote__engagement", "plan__engagement",
                 "survey__engagement", "criteria_set__engagement", "estimate__engagement",
                 "criterion__criteria_set__engagement", "artifact__engagement"):
        try:
            found = rows.filter(**{path: engagement}).values_list("pk", flat=True)
        except FieldError:
            continue
        return found.first()
    return rows.values_list("pk", flat=True).first()
