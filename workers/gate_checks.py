"""Gate checks about jobs."""

from collections.abc import Iterable

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from engagements.access import Can
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.stages import Stage
from workers import kinds
from workers.models import Job, JobState

# Jobs that must have succeeded before the stage may pass (DOMAIN 2.2, exit conditions).
REQUIRED_KINDS: dict[str, tuple[str, ...]] = {
    Stage.SURVEY: ("survey.pt_analyse",),
    Stage.ENV: ("env.npu_info", "env.host_probe", "env.torch_check"),
    Stage.TRAIN_ADAPT: ("adapt.gpu2npu",),
    Stage.INFER_MIGRATE: ("inf.atc",),
    Stage.INFER_TUNE: ("inf.om_bench",),
}


@register_check("jobs")
def required_jobs_succeeded(record: StageRecord) -> Iterable[CheckResult]:
    """For each required kind the newest job of this model (or of all models) succeeded.

    Jobs of a mode that answers another question do not count (`JobKind.gate_parameters`).
    """
    own_or_shared = Q(model=record.model) | Q(model=None, engagement=record.engagement)
    for code in REQUIRED_KINDS.get(record.stage, ()):
        wanted = {f"parameters__{name}": value
                  for name, value in kinds.get(code).gate_parameters.items()}
        newest = Job.objects.filter(
            own_or_shared, stage=record.stage, kind=code, **wanted).first()
        yield _judge(record, code, newest)


def _judge(record: StageRecord, code: str, job: Job | None) -> CheckResult:
    kind = kinds.get(code)
    label = ", ".join([str(kind.title), *(
        parameter.shown(kind.gate_parameters[parameter.name]) for parameter in kind.parameters
        if parameter.name in kind.gate_parameters)])
    form = (reverse("workers:job_new")
            + f"?model={record.model_id}&stage={record.stage}&kind={code}")
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
