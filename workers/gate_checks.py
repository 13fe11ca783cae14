"""Gate checks about jobs."""

from collections.abc import Iterable

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from engagements.access import Can
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from workers import kinds
from workers.models import Job, JobState
from workers.required_jobs import RequiredJob, required_jobs


@register_check("jobs")
def required_jobs_succeeded(record: StageRecord) -> Iterable[CheckResult]:
    """For each required job the newest run for this model (or for all models) succeeded.

    Jobs of a mode that answers another question do not count (`JobKind.gate_parameters`).
    """
    for required in required_jobs(record):
        yield _judge(record, required, _newest(record, required))


def _newest(record: StageRecord, required: RequiredJob) -> Job | None:
    """The newest job of the kinds; a successful one of another kind comes before a failed one."""
    own_or_shared = Q(model=record.model) | Q(model=None, engagement=record.engagement)
    jobs = Job.objects.whole().filter(own_or_shared, stage=record.stage)
    if not required.kinds:
        return jobs.filter(state=JobState.SUCCEEDED).first() or jobs.first()
    newest = [job for kind in required.kinds
              if (job := jobs.filter(kind=kind, **_wanted(kind)).first())]
    return max(newest, default=None, key=lambda job: (job.state == JobState.SUCCEEDED, job.pk))


def _wanted(code: str) -> dict[str, str]:
    return {f"parameters__{name}": value
            for name, value in kinds.get(code).gate_parameters.items()}


def _label(code: str) -> str:
    """The kind's title, with the mode that counts."""
    kind = kinds.get(code)
    return ", ".join([str(kind.title), *(
        parameter.shown(kind.gate_parameters[parameter.name]) for parameter in kind.parameters
        if parameter.name in kind.gate_parameters)])


def _judge(record: StageRecord, required: RequiredJob, job: Job | None) -> CheckResult:
    code = required.kinds[0] if required.kinds else ""
    label = _(" or ").join(map(_label, required.kinds)) or (
        _("A job of this stage"))
    form = (reverse("workers:job_new")
            + f"?model={record.model_id}&stage={record.stage}" + (f"&kind={code}" if code else ""))
    if job is None:
        return CheckResult(f"job:{code}", label, False, _("No such job has run yet."), form,
                           _("Run this job for the model."), needs=Can.WORK)
    sentence = _("Job %(number)s: %(state)s.") % {
        "number": f"#{job.pk}", "state": job.get_state_display()}
    is_met = job.state == JobState.SUCCEEDED
    remedy = "" if is_met else (
        _("See on the job's page why it did not succeed, and run it again.") if job.is_final
        else _("Wait until the job has ended."))
    return CheckResult(f"job:{code}", label, is_met, sentence,
                       reverse("workers:job", args=[job.pk]), remedy)
