"""What a document is made from, read once: the engagement's rows behind one object."""

from functools import cached_property

from django.utils import timezone

from assessments.performance.metric_bars import Bars, bars_of
from assessments.performance.rounds import history
from assessments.queries import current_criteria, verdicts_of
from delivery.planning.effort.usage import current_estimate
from delivery.planning.models import Plan
from delivery.planning.plan.task_dates import Scheduled, schedule
from delivery.quotes.models import Quote
from delivery.quotes.snapshot import facts_of
from delivery.reports.facts import run_records
from delivery.reports.models import Document
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Survey
from engagements.models import MigratedModel
from workers.models import Job


class Source:
    """The rows of one engagement, each group fetched when a builder first asks for it."""

    def __init__(self, document: Document) -> None:
        self.document, self.engagement = document, document.engagement
        self.today = timezone.localdate()
        self._bars: dict[int, list[Bars]] = {}

    @cached_property
    def models(self) -> list:
        """In their order, with their stages."""
        return list(self.engagement.models.current().prefetch_related("stages"))

    def bars(self, model: MigratedModel) -> list[Bars]:
        """All metrics of performance that were measured for the model."""
        if model.pk not in self._bars:
            self._bars[model.pk] = bars_of(model, history(model))
        return self._bars[model.pk]

    @cached_property
    def criteria(self):
        return current_criteria(self.engagement)

    @cached_property
    def judged(self) -> run_records.Judged:
        return verdicts_of(self.criteria) if self.criteria else []

    @cached_property
    def runs(self) -> list[dict]:
        return run_records.runs(self.engagement, self.judged)

    @cached_property
    def jobs(self) -> list[Job]:
        """All jobs by number, a job on several nodes as one."""
        return list(self.engagement.jobs.whole().order_by("pk").prefetch_related(
            "leases").select_related("node", "model"))

    @cached_property
    def evidence(self) -> list[dict]:
        return run_records.manifest(self.engagement, self.judged)

    @cached_property
    def survey(self) -> Sheet | None:
        """The survey as it stands; None before it is started."""
        found = Survey.objects.filter(engagement=self.engagement).select_related(
            "questionnaire").first()
        return Sheet(found) if found else None

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
    def quote(self) -> Quote | None:
        """The newest quote that the customer accepted, else one that was issued."""
        quotes = self.engagement.quotes.order_by("-issued_at", "-pk")
        return (quotes.filter(state=Quote.State.ACCEPTED).first()
                or quotes.filter(state=Quote.State.ISSUED).first())

    @cached_property
    def quoted(self) -> dict:
        """The frozen facts of that quote; empty without one."""
        return facts_of(self.quote) if self.quote else {}

    @cached_property
    def baselines(self) -> list:
        """Baselines that the criteria in force rest on; without criteria all of the models."""
        used = {c.baseline_id: c.baseline for c, _v in self.judged if c.baseline_id}
        if used:
            return list(used.values())
        return [b for m in self.models for b in m.baselines.select_related("artifact", "model")]
