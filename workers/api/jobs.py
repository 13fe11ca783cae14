"""REST endpoints of job kinds and jobs. Each write is one service call."""

import django_filters
from django.db.models import Q
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.strict_filters import KnownParameters
from toolreaders.number_parsing import whole_number
from workers import kinds, queries, services
from workers.api import serializers
from workers.api.archive_schema import ARCHIVE, FORMAT
from workers.api.file_serializers import FollowUpSerializer
from workers.jobs import folder_archives, job_template_values, kind_catalogue
from workers.jobs.archive_answers import archive_answer
from workers.jobs.follow_ups import follow_ups
from workers.logs import customer_text, live_log, search
from workers.models import Job, JobLog, Priority
from workers.services.job_plans import plan_job

MOST_AT_ONCE = 500  # jobs of one call


class KindViewSet(KnownParameters, viewsets.ViewSet):
    """The job kinds with the JSON schema of their parameters."""

    serializer_class = serializers.KindSerializer
    lookup_field = "code"
    lookup_value_regex = "[a-z0-9_.]+"

    @extend_schema(responses=serializers.KindSerializer(many=True))
    def list(self, request):
        return Response([serializers.kind_facts(kind) for kind in kinds.all_kinds()])

    @extend_schema(responses=serializers.KindSerializer)
    def retrieve(self, request, code=None):
        """One kind."""
        return Response(serializers.kind_facts(kind_catalogue.known_kind(code)))


class JobFilter(django_filters.FilterSet):
    """`since` and `until` bound the time in which a job ran, or waits if it has not started."""

    since = django_filters.IsoDateTimeFilter(method="filter_since")
    until = django_filters.IsoDateTimeFilter(method="filter_until")
    card = django_filters.NumberFilter("leases__card_index", distinct=True)

    class Meta:
        model = Job
        fields = ["kind", "state", "engagement", "model", "stage", "node", "agent"]

    def filter_since(self, jobs, _name, value):
        return jobs.filter(Q(finished_at=None) | Q(finished_at__gte=value))

    def filter_until(self, jobs, _name, value):
        return jobs.filter(Q(started_at__lte=value) | Q(started_at=None, created_at__lte=value))


class JobViewSet(mixins.CreateModelMixin, ScopedViewSet):
    is_job_work = True  # API tokens for jobs reach it
    queryset = Job.objects.prefetch_related("retries", "inputs", "logs").select_related("gang")
    serializer_class = serializers.JobSerializer
    filterset_class = JobFilter
    cancel = RowAction(services.cancel_job, "job", "", serializers.OptionalReasonSerializer)
    hold = RowAction(services.hold_job, "job", "Keep a waiting job from starting.",
                     serializers.JobReasonSerializer)
    release = RowAction(services.release_job, "job", "Let a held job go on in its place.")
    priority = RowAction(services.set_priority, "job", "Move a waiting job in the queue.",
                         serializers.PrioritySerializer)
    retry = RowAction(services.retry_job, "job", "",
                      answers=serializers.JobSerializer, code=status.HTTP_201_CREATED)

    def filter_queryset(self, queryset):
        """A list has whole jobs; the member of one on several nodes is found by its id."""
        found = super().filter_queryset(queryset)
        return found.whole() if self.action == "list" else found

    def perform_create(self, serializer):
        serializer.instance = services.queue_job(
            actor=self.request.user, **_order(serializer.validated_data))

    @extend_schema(request=serializers.JobSerializer(many=True, allow_empty=False,
                                                     max_length=MOST_AT_ONCE),
                   responses={201: serializers.JobSerializer(many=True)})
    @action(detail=False, methods=["post"], pagination_class=None, filterset_class=None)
    def batch(self, request):
        """Queue a list of jobs, all of them or none; an error names each that is refused."""
        serializer = self.get_serializer(data=request.data, many=True, allow_empty=False,
                                         max_length=MOST_AT_ONCE)
        serializer.is_valid(raise_exception=True)
        jobs = services.queue_jobs(
            actor=request.user, orders=[_order(data) for data in serializer.validated_data])
        return Response(self.get_serializer(jobs, many=True).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.JobSerializer, responses=serializers.JobPlanSerializer)
    @action(detail=False, methods=["post"], pagination_class=None, filterset_class=None)
    def plan(self, request):
        """What the job would run and how many card hours it may use, under a hash: sent as `plan`
        with the same order, the job is queued as it was shown or refused. Nothing is queued."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        order = _order(serializer.validated_data)
        return Response(serializers.JobPlanSerializer(
            plan_job(actor=request.user, **order), context=self.get_serializer_context()).data)

    @extend_schema(responses=ARCHIVE, parameters=[
        OpenApiParameter("path", str, description="a folder among them"), FORMAT])
    @action(detail=True, filterset_class=None)
    def archive(self, request, pk=None):
        """The stored files of the job, or those of a folder, as a tar archive or as zip."""
        job = self.get_object()
        pieces, size = folder_archives.of_job(job, request.query_params.get("path", "").strip("/"))
        if not size:
            raise Http404
        return archive_answer(pieces, f"job-{job.pk}", job, size,
                              request.query_params.get("as", ""))

    @extend_schema(responses=FollowUpSerializer(many=True))
    @action(detail=True, url_path="follow-ups", pagination_class=None, filterset_class=None)
    def follow_ups(self, request, pk=None):
        """Kinds that take the job's files, with the parameters that name them."""
        found = follow_ups(self.get_object())
        return Response([{"kind": each.kind.code, "parameters": each.parameters}
                         for each in found])

    @extend_schema(responses=serializers.WaitingSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_class=None)
    def waiting(self, request, pk=None):
        """Why the job waits: everything in its way on each of its nodes, and when it may start."""
        require(request.user, Can.VIEW_INTERNAL)
        return Response(serializers.WaitingSerializer(queries.why_waiting(
            self.get_object(), request.user, timezone.now()), many=True).data)

    @extend_schema(responses=serializers.LogSerializer,
                   parameters=[OpenApiParameter("offset", int),
                               OpenApiParameter("log", int, description="id of a further log")])
    @action(detail=True)
    def log(self, request, pk=None):
        """The text of the output, or of a further log, from a byte offset."""
        offset = whole_number(request.query_params.get("offset")) or 0
        text, end = live_log.read(self._log(), offset)
        return Response({"text": customer_text.shown_to(request.user)(text), "next_offset": end})

    @extend_schema(responses=serializers.LogHitSerializer, parameters=[
        OpenApiParameter("log", int, description="id of a further log"),
        OpenApiParameter("q", str, description="empty: what errors look like"),
        OpenApiParameter("before", int, description="byte offset; without, the end")])
    @action(detail=True, url_path="log/search")
    def log_search(self, request, pk=None):
        """The last line before an offset that holds the text; null where this part has none."""
        answer = search.answer(self._log(), request.query_params)
        return Response({**answer, "line": customer_text.shown_to(request.user)(answer["line"])})

    def _log(self) -> Job | JobLog:
        job, asked = self.get_object(), whole_number(self.request.query_params.get("log"))
        return job if asked is None else get_object_or_404(
            job.logs.select_related("job"), pk=asked)


def _order(data: dict) -> dict:
    """The arguments of `services.queue_job` from checked data."""
    template, parameters = data.get("template"), data.get("parameters")
    if template:
        parameters = job_template_values.filled(template, data["kind"], parameters or {})
    return {"kind": data["kind"], "parameters": parameters,
            "engagement": data.get("engagement"), "model": data.get("model"),
            "stage": data.get("stage", ""), "purpose": data.get("purpose", ""),
            "node": data.get("node"),
            "nodes": data.get("nodes", ()), "restarts": data.get("restarts", 0),
            "runtime": data.get("chosen_runtime") or (
                template and job_template_values.runtime_of(template)),
            "plan": data.get("plan", ""), "priority": data.get("priority", Priority.NORMAL),
            "priority_reason": data.get("priority_reason", "")}


routes = [
    ("job-kinds", KindViewSet, "job-kind"),
    ("jobs", JobViewSet, "job"),
]
