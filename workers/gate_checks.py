"""Gate checks about jobs, and what they are to the closing of an engagement."""

from collections.abc import Iterable

from django.db.models import Max, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from engagements.access import Can
from engagements.closing import ClosingCondition, counted, register_condition
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.stages import Stage
from engagements.text.text_joining import listed
from workers import kinds
from workers.models import Job, JobState, Node
from workers.required_jobs import REQUIRED_JOBS, RequiredJob, required_jobs
from workers.unresolved_apis import FoundApi, found_at

NAMED = 5  # APIs that the sentence names


@register_check("jobs", *(required.stage for required in REQUIRED_JOBS))
def required_jobs_succeeded(record: StageRecord) -> Iterable[CheckResult]:
    """For each required job the newest run for this model (or for all models) succeeded.

    Jobs of a mode that answers another question do not count (`JobKind.gate_parameters`). The
    environment is checked on each node on which the model's later jobs run; before there are
    any, all checks are of one node.
    """
    asked = required_jobs(record)
    if record.stage != Stage.ENV:
        for required in asked:
            yield _judge(record, required, _newest(_jobs(record), required))
        return
    nodes = _nodes_in_use(record) or [_node_checked_most(record, asked)]
    for required in asked:
        yield _judge(record, required, *_worst(record, required, nodes))


def _jobs(record: StageRecord) -> QuerySet[Job]:
    """Those of the stage for the model, or for all models."""
    own_or_shared = Q(model=record.model) | Q(model=None, engagement=record.engagement)
    return Job.objects.whole().filter(own_or_shared, stage=record.stage)


def _nodes_in_use(record: StageRecord) -> list[Node]:
    """The nodes of the model's jobs in the stages that come after the environment's."""
    later = Stage.values[Stage.values.index(Stage.ENV) + 1:]
    return list(Node.objects.filter(jobs__model=record.model, jobs__stage__in=later).distinct())


def _node_checked_most(record: StageRecord, asked: list[RequiredJob]) -> Node | None:
    """The node on which most of what is asked for succeeded; of equals the one checked last."""
    nodes = Node.objects.filter(jobs__in=_jobs(record)).annotate(
        newest=Max("jobs__pk")).order_by("newest")
    return max(nodes, default=None, key=lambda node: (
        sum(_has_succeeded(_newest(_jobs(record).filter(node=node), required))
            for required in asked), node.newest))


def _worst(record: StageRecord, required: RequiredJob, nodes: list[Node | None]
           ) -> tuple[Job | None, Node | None]:
    """The job of the first node on which it has not succeeded; else that of the last node."""
    for node in nodes:
        job = _newest(_jobs(record).filter(node=node), required)
        if not _has_succeeded(job):
            break
    return job, node


def _has_succeeded(job: Job | None) -> bool:
    return job is not None and job.state == JobState.SUCCEEDED


def _newest(jobs: QuerySet[Job], required: RequiredJob) -> Job | None:
    """The newest job of the kinds; a successful one of another kind comes before a failed one."""
    if not required.kinds:
        return jobs.filter(state=JobState.SUCCEEDED).first() or jobs.first()
    newest = [job for kind in required.kinds if (job := _newest_of(jobs, kind))]
    return max(newest, default=None, key=lambda job: (job.state == JobState.SUCCEEDED, job.pk))


def _newest_of(jobs: QuerySet[Job], code: str) -> Job | None:
    """The newest job of a kind; of one with several modes that of the first mode without a
    success, which may be none."""
    kind = kinds.get(code)
    if not kind.gate_modes:
        return jobs.filter(kind=code, **{
            f"parameters__{name}": value for name, value in kind.gate_parameters.items()}).first()
    newest = [jobs.filter(kind=code, parameters__mode=mode).first() for mode in kind.gate_modes]
    return next((job for job in newest if not _has_succeeded(job)), newest[0])


def _modes(record: StageRecord, code: str) -> str:
    """Which modes of the kind have succeeded and which have not; empty for a kind without."""
    kind = kinds.get(code)
    if not kind.gate_modes:
        return ""
    [mode] = [parameter for parameter in kind.parameters if parameter.name == "mode"]
    ran = {each for each in mode.choices
           if _has_succeeded(_jobs(record).filter(kind=code, parameters__mode=each).first())}
    named = {is_in: listed(mode.shown(each) for each in mode.choices if (each in ran) == is_in)
             for is_in in (True, False)}
    return _("Modes that succeeded: %(ran)s; modes without a result: %(missing)s.") % {
        "ran": named[True] or "–", "missing": named[False] or "–"}


def _label(code: str) -> str:
    """The kind's title, with the mode that counts."""
    kind = kinds.get(code)
    return ", ".join([str(kind.title), *(
        parameter.shown(value) for parameter in kind.parameters
        for value in (kind.gate_modes if parameter.name == "mode" and kind.gate_modes else
                      [kind.gate_parameters[parameter.name]]
                      if parameter.name in kind.gate_parameters else ()))])


def _judge(record: StageRecord, required: RequiredJob, job: Job | None,
           node: Node | None = None) -> CheckResult:
    code = required.kinds[0] if required.kinds else ""
    label = _(" or ").join(map(_label, required.kinds)) or (
        _("A job of this stage"))
    form = (reverse("workers:job_new")
            + f"?model={record.model_id}&stage={record.stage}" + (f"&kind={code}" if code else ""))
    if job is None:
        missing = _("No such job has run on %(node)s yet.") % {"node": node} if node else (
            _("No such job has run yet."))
        if code and _jobs(record).filter(kind=code).exists():
            missing = _modes(record, code) or missing
        return CheckResult(f"job:{code}", label, False, missing, form,
                           _("Run this job for the model."), needs=Can.WORK)
    names = {"number": f"#{job.pk}", "state": job.get_state_display(), "node": node}
    sentence = (_("Job %(number)s on %(node)s: %(state)s.") if node else
                _("Job %(number)s: %(state)s.")) % names
    if modes := _modes(record, job.kind):
        sentence = f"{sentence} {modes}"
    is_met = _has_succeeded(job)
    remedy = "" if is_met else (
        _("See on the job's page why it did not succeed, and run it again.") if job.is_final
        else _("Wait until the job has ended."))
    return CheckResult(f"job:{code}", label, is_met, sentence,
                       reverse("workers:job", args=[job.pk]), remedy)


@register_check("api_routes", Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE)
def apis_have_routes(record: StageRecord) -> Iterable[CheckResult]:
    """Each unsupported or unknown API that the analyses in force name has a recorded route.

    Silent where they name none, and in stages that do not depend on them.
    """
    found = found_at(record.model, record.stage)
    if not found:
        return
    without = [entry for entry in found if entry.is_open]
    yield CheckResult(
        "api_routes", _("Routes of unsupported APIs"), not without,
        _routes_sentence(found, without),
        reverse("workers:api_routes", args=[record.model_id]),
        _("Record for each whether it is replaced, developed, run on the CPU or dropped, and why; "
          "of an issue with the community its answer.")
        if without else "")


def _routes_sentence(found: list[FoundApi], without: list[FoundApi]) -> str:
    if not without:
        return ngettext("%(n)d unsupported or unknown API has a route.",
                        "All %(n)d unsupported or unknown APIs have a route.",
                        len(found)) % {"n": len(found)}
    names = listed(entry.api for entry in without[:NAMED])
    rest = len(without) - NAMED
    return ngettext("%(n)d of %(all)d unsupported or unknown APIs has no route: %(names)s.",
                    "%(n)d of %(all)d unsupported or unknown APIs have no route: %(names)s.",
                    len(without)) % {
        "n": len(without), "all": len(found),
        "names": names if rest <= 0 else _("%(names)s and %(n)d more") % {
            "names": names, "n": rest}}


register_condition(ClosingCondition(
    code="jobs", label=gettext_lazy("Jobs"), met=gettext_lazy("No job is under way."),
    open_of=counted(Job.objects.whole().in_flight(), lambda n: ngettext(
        "%(n)d job is under way.", "%(n)d jobs are under way.", n) % {"n": n}),
    url=lambda engagement: f"{reverse('workers:jobs')}?engagement={engagement.code}"))
