"""APIs and operators of a model that its analyses call unsupported or unknown, with their routes.

Per source folder or model file the newest analysis that came to its end counts, together with
newer ones that did not: these prove nothing about what they do not list.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.migration_routes import InferenceRoute
from engagements.models import MigratedModel
from engagements.stages import Scope, Stage
from workers.models import ApiRoute, JobState, StoredReading
from workers.reading_pages import register_reading_page


class ApiClass(models.TextChoices):
    """What an analysis says of an API, the gravest first."""

    UNSUPPORTED = "unsupported", gettext_lazy("Not supported")
    CUDA = "cuda", gettext_lazy("CUDA operator")
    UNKNOWN = "unknown", gettext_lazy("Not known")


@dataclass(frozen=True)
class Mention:
    """One API in one file of an analysis."""

    api: str
    kind: ApiClass
    uses: int
    place: str = ""


@dataclass
class FoundApi:
    """An API of a model: how often it is used at least, where first, who found it, its route."""

    api: str
    kind: ApiClass
    uses: int = 0
    place: str = ""
    artifacts: set[int] = field(default_factory=set)
    stages: set[str] = field(default_factory=set)
    route: ApiRoute | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing is decided, or an issue with the community waits for its answer."""
        return self.route is None or not self.route.is_settled


# Tables of msfmktransplt (DOMAIN 5.9, `toolreaders.conversion.transplant`).
CLASSES = {
    "unsupported_api": ApiClass.UNSUPPORTED, "framework_unsupported_op": ApiClass.UNSUPPORTED,
    "full_unsupported_results": ApiClass.UNSUPPORTED, "unknown_api": ApiClass.UNKNOWN,
    "unknown_op": ApiClass.UNKNOWN, "cuda_op_list": ApiClass.CUDA, "cuda_op": ApiClass.CUDA}
UNCLEAR = None  # a table whose rows fit several names: nothing better than unknown
NAME_COLUMNS = ("OP", "Api", "OP Name", "Torch API", "3rd-party API")
STILL_ANALYSED = ("分析中", "Analysing", "NA", "")
# ATC on an operator: EZ3002 and EZ3003 no kernel, E19010 no parser (CANN error codes of FE and GE).
OPERATOR_CODES = {"EZ3002", "EZ3003", "E19010"}


def _transplant(values: dict) -> Iterator[Mention]:
    table = values.get("table", "")
    kind = ApiClass.UNKNOWN if table is UNCLEAR else CLASSES.get(table)
    places = {item[name]: _place(item["File"], item.get("Start Line"))
              for item in reversed(values.get("items") or []) for name in NAME_COLUMNS
              if item.get(name) and item.get("File")}
    for api, uses in (values.get("apis") or {}).items() if kind else ():
        yield Mention(api, kind, int(uses), places.get(api, ""))


def _tensorflow(values: dict) -> Iterator[Mention]:
    items = values.get("items") or []
    places = {item["api"]: _place(item["file"], item["line"])
              for item in reversed(items) if item.get("api")}
    listed = values.get("apis") if values.get("form") == "failed" else (
        values.get("unsupported_apis"))
    for api, uses in (listed or {}).items():
        yield Mention(api, ApiClass.UNSUPPORTED, int(uses), places.get(api, ""))
    unknown = Counter(item["api"] for item in items if item.get("api") and "support" in item
                      and (item["support"] or "") in STILL_ANALYSED)
    for api, uses in unknown.items():
        yield Mention(api, ApiClass.UNKNOWN, uses, places.get(api, ""))


def _atc(values: dict) -> Iterator[Mention]:
    if values.get("succeeded") or not OPERATOR_CODES.intersection(values.get("codes") or []):
        return
    named = Counter(op["type"] for op in values.get("ops") or [])
    for api in values.get("op_types") or []:
        yield Mention(api, ApiClass.UNSUPPORTED, named[api] or 1)


def _scan(values: dict) -> Iterator[Mention]:
    for finding in values.get("findings") or []:
        if finding["check"] == "unsupported_api":
            yield Mention(finding["note"] or finding["snippet"].strip(), ApiClass.UNSUPPORTED, 1,
                          _place(finding["file"], finding["line"]))


def _place(file: str, line: int | str | None) -> str:
    return f"{file}:{line}" if line else str(file)


MENTIONS: dict[str, Callable[[dict], Iterable[Mention]]] = {
    "migration_analysis": _transplant, "tf_conversion": _tensorflow, "conversion_log": _atc,
    "source_scan": _scan}


# What an analysis says something about, beside the tables of msfmktransplt: what it finds none of
# is none, of the other classes it says nothing.
EXHAUSTIVE: dict[str, tuple[ApiClass, ...]] = {
    "tf_conversion": (ApiClass.UNSUPPORTED, ApiClass.UNKNOWN),
    "source_scan": (ApiClass.UNSUPPORTED,), "conversion_log": (ApiClass.UNSUPPORTED,)}


def exhaustive_classes(reading: StoredReading) -> tuple[ApiClass, ...]:
    """The classes of which the reading names every API that it found."""
    kind = CLASSES.get(reading.values.get("table", ""))
    return EXHAUSTIVE.get(reading.kind, (kind,) if kind else ())


def found_apis(model: MigratedModel) -> list[FoundApi]:
    """What the analyses in force name, the gravest first, each with the route in force."""
    found: dict[str, FoundApi] = {}
    for reading in analyses_in_force(model):
        _take(found, reading)
    routes = {route.api: route for route in ApiRoute.objects.filter(
        model=model).select_related("decided_by").order_by("pk")}
    for entry in found.values():
        entry.route = routes.get(entry.api)
    order = list(ApiClass)
    return sorted(found.values(), key=lambda entry: (order.index(entry.kind), entry.api))


def found_at(model: MigratedModel, stage: str) -> list[FoundApi]:
    """Those whose routes have to be recorded before this stage may pass.

    A model that is not trained but served by its framework runs its source code in inference.
    """
    runs_source = model.scope == Scope.INFERENCE and (
        model.inference_route == InferenceRoute.ONLINE)
    needed = {stage} | ({Stage.TRAIN_ADAPT} if runs_source and stage == Stage.INFER_MIGRATE
                        else set())
    return [entry for entry in found_apis(model) if entry.stages & needed]


def _take(found: dict[str, FoundApi], reading: StoredReading) -> None:
    stage = Stage.INFER_MIGRATE if reading.kind == "conversion_log" else Stage.TRAIN_ADAPT
    uses: dict[str, int] = defaultdict(int)
    for mention in MENTIONS[reading.kind](reading.values):
        api = mention.api[:240]
        entry = found.setdefault(api, FoundApi(api, mention.kind))
        uses[api] += mention.uses
        entry.kind = min(entry.kind, mention.kind, key=list(ApiClass).index)
        entry.uses = max(entry.uses, uses[api])  # tools may have counted the same uses
        entry.place = entry.place or mention.place
        entry.artifacts.add(reading.artifact_id)
        entry.stages.add(stage)


def analyses_in_force(model: MigratedModel) -> Iterator[StoredReading]:
    """Readings of the newest analyses; those of older ones on the same sources are out of date."""
    groups: dict[tuple, dict[tuple, list[StoredReading]]] = defaultdict(lambda: defaultdict(list))
    for reading in _readings(model):
        job = reading.artifact.job_id
        run = (job, 0) if job else (0, reading.artifact_id)
        groups[_subject(reading)][run].append(reading)
    for runs in groups.values():
        for readings in runs.values():  # the newest first
            yield from readings
            if any(map(is_whole, readings)):
                break


def _readings(model: MigratedModel) -> list[StoredReading]:
    """The newest reading of each file by each reader, newest file first; also files of analyses
    that were made for all models."""
    own = Q(artifact__model=model) | Q(artifact__model=None,
                                       artifact__engagement=model.engagement_id)
    newest = {(reading.artifact_id, reading.reader): reading
              for reading in StoredReading.objects.filter(own, kind__in=MENTIONS)
              .select_related("artifact__job").order_by("artifact_id", "pk")}
    return [*reversed(newest.values())]


def _subject(reading: StoredReading) -> tuple:
    """What was analysed, by which table: a newer one of the same takes the older one's place."""
    job, values = reading.artifact.job, reading.values
    part = values.get("table") if reading.kind == "migration_analysis" else (
        "" if job else values.get("form"))
    if job is None:
        name = reading.artifact.name if reading.kind in ("source_scan", "conversion_log") else ""
        return reading.kind, part, name
    given = job.parameters.get("source") or job.parameters.get("model_file") or ""
    return reading.kind, part, job.kind if not given else "", given


def is_whole(reading: StoredReading) -> bool:
    """Whether the run came to its end, so that what it does not list is not there."""
    if reading.kind == "conversion_log":  # stops at the first cause, which may be another
        return bool(reading.values.get("succeeded")) or any(_atc(reading.values))
    job = reading.artifact.job
    if job is None or job.state == JobState.SUCCEEDED:
        return True
    # The converter's job fails on purpose where a use is not supported.
    return reading.kind == "tf_conversion" and bool(reading.values.get("succeeded"))


@register_reading_page("migration_analysis")
@register_reading_page("tf_conversion")
@register_reading_page("conversion_log")
def routes_page(reading: StoredReading) -> tuple[str, str] | None:
    """The model's APIs and their routes, where this file names some."""
    model = reading.artifact.model_id
    if model is None or not any(MENTIONS[reading.kind](reading.values)):
        return None
    return _("Routes of its APIs"), reverse("workers:api_routes", args=[model])
