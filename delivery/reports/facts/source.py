"""What a document is made from, read once: the engagement's rows behind one object."""

from functools import cached_property

from django.utils import timezone

from assessments.performance.metric_bars import Bars, bars_of
from assessments.performance.rounds import history
from assessments.queries import verdicts_of
from delivery.agreement.facts import Origin
from delivery.agreement.models import Agreement
from delivery.agreement.queries import agreement_of, offered
from delivery.planning.effort.usage import current_estimate
from delivery.planning.models import Plan
from delivery.planning.plan.task_dates import Scheduled, schedule
from delivery.reports.facts import run_records
from delivery.reports.models import Document
from engagements.models import MigratedModel
from engagements.remembered_reads import remembered
from workers.models import Job

STATEMENT_OF_WORK = "SOW"


@remembered
def source_of(document: Document) -> "Source":
    """What a stored document is made from now; see `reading_once`."""
    return Source(document)


class Source(Origin):
    """The rows of one engagement, each group fetched when a builder first asks for it."""

    def __init__(self, document: Document) -> None:
        super().__init__(document.engagement)
        self.document = document
        self.today = timezone.localdate()
        self._bars: dict[int, list[Bars]] = {}

    def bars(self, model: MigratedModel) -> list[Bars]:
        """All metrics of performance that were measured for the model."""
        if model.pk not in self._bars:
            self._bars[model.pk] = bars_of(model, history(model))
        return self._bars[model.pk]

    @cached_property
    def judged(self) -> run_records.Judged:
        return verdicts_of(self.criteria) if self.criteria else []

    @cached_property
    def runs(self) -> list[dict]:
        return run_records.runs(self.jobs, self.judged)

    @cached_property
    def jobs(self) -> list[Job]:
        """All jobs by number, a job on several nodes as one."""
        return list(self.engagement.jobs.whole().order_by("pk").prefetch_related(
            "leases").select_related("node", "model", "created_by", "agent"))

    @cached_property
    def evidence(self) -> list[dict]:
        return run_records.manifest(self.engagement, self.judged)

    @cached_property
    def estimate(self):
        return current_estimate(self.engagement)

    @cached_property
    def plan(self) -> Plan | None:
        return Plan.objects.filter(engagement=self.engagement).first()

    @cached_property
    def schedule(self) -> list[Scheduled]:
        return schedule(self.plan) if self.plan else []

    @cached_property
    def agreement(self) -> Agreement:
        """What was contracted; a statement of work shows what it puts to both sides."""
        read = offered if self.document.kind == STATEMENT_OF_WORK else agreement_of
        return read(self.engagement, self)

    @cached_property
    def baselines(self) -> list:
        """Baselines that the criteria in force rest on; without criteria all of the models."""
        used = {c.baseline_id: c.baseline for c, _v in self.judged if c.baseline_id}
        if used:
            return list(used.values())
        return [b for m in self.models for b in m.baselines.select_related("artifact", "model")]
