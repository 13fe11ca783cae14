"""An engagement from the survey to the signed acceptance, as its people would do it.

Every write is a step that `StepMemory` does once: a scenario that was stopped goes on where it was.
"""

import time
from collections.abc import Callable
from decimal import Decimal
from itertools import groupby
from pathlib import Path

from assessments import services as assessments
from assessments.accuracy.allowlist import compared, outcome_of
from assessments.accuracy.readings import newest_config_check
from assessments.models import Baseline, CriteriaSet, MetricDefinition
from assessments.queries import latest_verdicts, verdict_sentence
from assessments.verdicts.environments import unreviewed
from delivery.demo.sample_firm import SampleEngagement
from delivery.demo.sample_jobs import (
    TRAINING,
    PlannedJob,
    inference_criteria,
    is_scanned,
    planned_jobs,
    source_archive,
)
from delivery.demo.scenario_documents import ScenarioDocuments
from delivery.demo.step_memory import StepMemory, require_practice
from delivery.demo.terminal_client import TerminalClient
from delivery.quotes import services as quotes
from delivery.quotes.models import PriceLine, Quote, RateCard
from delivery.surveys import services as surveys
from engagements import services as engagements
from engagements.errors import WrongState
from engagements.models import Engagement, MigratedModel, StageRecord, User
from engagements.stages import Scope, Stage, StageMove, StageState
from workers import services as workers
from workers.models import Artifact, Job, JobState, Node
from workers.models.job import FINAL_STATES
from workers.services.scans import scan_upload
from workers.unresolved_apis import ApiClass, found_apis

# The same training with a learning rate that somebody took over wrongly.
WRONG_RATE = {**TRAINING, "learning_rate": 2e-5}
# About a quarter of an hour on two cards: the others stay free for whoever tries the portal.
LIVE = {"cards": 2, "tensor_parallel": 1, "pipeline_parallel": 1, "train_iters": 1800,
        "learning_rate": 5e-5, "extra": "--practice-delay 0.5"}
FINDERS_FAULT = (JobState.LOST, JobState.UNKNOWN)  # the node was away: tried again, not judged
ATTEMPTS = 3


class Scenario(ScenarioDocuments):
    """The steps of one engagement, through the same services as a person's clicks.

    Args:
        who: its people by the part they play: manager, lead, consultant, sales, reviewer.
        log: hears a line for each thing that was done.
        out: folder for documents; none are written without.
        tend: called while it waits.
        terminal: runs the command line client; its steps are left out without.
    """

    def __init__(self, spec: SampleEngagement, engagement: Engagement, node: Node,
                 who: dict[str, User], *, log: Callable[[str], None], out: Path | None = None,
                 tend: Callable[[], object] = lambda: None,
                 terminal: TerminalClient | None = None) -> None:
        self.spec, self.engagement, self.node, self.who = spec, engagement, node, who
        self.log, self.out, self.tend, self.terminal = log, out, tend, terminal
        self.memory = StepMemory(engagement.code)
        self.models = list(engagement.models.all())
        self.trained = [m for m in self.models if m.scope != Scope.INFERENCE]

    def play(self, show: Callable[[str], object]) -> None:
        """All steps in order; `show` hears the name of each before it.

        Raises DeskError or TimeoutError at the first step that fails.
        """
        for step in self.spec.steps:
            show(step)
            getattr(self, step)()

    # Stages ----------------------------------------------------------------------

    def survey(self) -> None:
        self._required_jobs(Stage.SURVEY, self.models)
        for model in filter(is_scanned, self.models):
            self.memory.once(f"scan.{model.code}", lambda model=model: scan_upload(
                actor=self.who["consultant"], engagement=self.engagement, model=model,
                upload=source_archive(model)).pk)
        self.memory.once("survey", self._decide_survey)
        self._pass(Stage.SURVEY, self.models)

    def _decide_survey(self) -> None:
        manager, survey = self.who["manager"], self.engagement.survey
        decision = surveys.decide(actor=manager, survey=survey, verdict="go",
                                  reason="资料齐备，算子缺口均有路线。")
        taken = surveys.apply_consequences(actor=manager, survey=survey)
        self.log(f"  survey: readiness {decision.score}/100, {decision.verdict}; "
                 f"{len(taken)} consequences taken over")

    def offer(self) -> None:
        self.quote = Quote.objects.get(pk=self.memory.once("quote", lambda: self._quote().pk))
        self.memory.once("offer", self._issue_quote)
        self.quote.refresh_from_db()

    def _quote(self) -> Quote:
        sales, card = self.who["sales"], RateCard.objects.order_by("pk").first()
        quote = quotes.create_quote(actor=sales, engagement=self.engagement)
        quotes.add_resources(actor=sales, quote=quote, card=card, months=Decimal(3))
        for price, days in zip(PriceLine.objects.filter(
                card=card, unit="person_day").exclude(stage=Stage.OPERATION), self.spec.quoted,
                strict=True):
            quotes.add_line(actor=sales, quote=quote, price=price, quantity=Decimal(days))
        quote.refresh_from_db()
        quotes.update_quote(actor=sales, quote=quote,
                            source_note="以各行之和为准，来源文件所列合计有误。",
                            discount_rate=Decimal("0.05"), discount_reason="框架协议客户")
        return quote

    def _issue_quote(self) -> None:
        sales, quote = self.who["sales"], self.quote
        quotes.submit_quote(actor=sales, quote=quote)
        quotes.review_quote(actor=self.who["consultant"], quote=quote)
        quotes.approve_quote(actor=self.who["manager"], quote=quote)
        quotes.issue_quote(actor=sales, quote=quote)

    def order(self) -> None:
        self.memory.once("order", lambda: quotes.answer_quote(
            actor=self.who["reviewer"], quote=self.quote, is_accepted=True).pk)
        self.quote.refresh_from_db()
        self._write_quote(self.quote)
        self.log(f"  {self.quote}: {self.quote.snapshot['totals']['gross']} CNY including tax, "
                 "accepted")

    def criteria(self) -> None:
        [llm] = self.trained[:1]
        runs = self._jobs(Stage.DESIGN, "adapt.megatron_train",
                          {**TRAINING, "extra": "--practice-device gpu"}, [llm] * 3)
        self.memory.once("criteria", lambda: self._sign_criteria(
            llm, [job.artifacts.get(name="log.txt") for job in runs]).pk)
        signed = self.engagement.criteria_sets.get(state=CriteriaSet.State.SIGNED)
        self.log(f"  criteria {signed} signed, {signed.criteria.count()} criteria, "
                 f"hash {signed.content_hash[:16]}")
        self._pass(Stage.DESIGN, self.models)

    def _sign_criteria(self, llm: MigratedModel, logs: list[Artifact]) -> CriteriaSet:
        lead, (reference, *repeats) = self.who["lead"], logs
        baseline = assessments.record_baseline(
            actor=self.who["consultant"], model=llm, quantity="loss_curve",
            artifact=reference, repeats=repeats, source="演练：GPU 侧运行",
            environment={"chip": "GPU (practice)", "cards": "8", "framework": "PyTorch 2.1.0"})
        draft = assessments.draft_criteria(actor=lead, engagement=self.engagement)
        assessments.add_criterion(
            actor=lead, criteria_set=draft, model=llm, stage=Stage.TRAIN_TUNE,
            threshold=Decimal("0.02"), baseline=baseline,
            definition=MetricDefinition.objects.get(code="loss_mean_relative_error"))
        for model in self.models:
            for code, threshold in inference_criteria(model):
                assessments.add_criterion(
                    actor=lead, criteria_set=draft, model=model, stage=Stage.INFER_TUNE,
                    threshold=Decimal(threshold),
                    definition=MetricDefinition.objects.get(code=code))
        assessments.confirm_criteria(actor=self.who["reviewer"], criteria_set=draft)
        return assessments.sign_criteria(actor=self.who["manager"], criteria_set=draft)

    def environment(self) -> None:
        for kind in dict.fromkeys(job.kind for job in planned_jobs(self.models, Stage.ENV)):
            [pk] = self.memory.once(f"jobs.{kind}", lambda kind=kind: [workers.queue_job(
                actor=self.who["consultant"], kind=kind, node=self.node,
                engagement=self.engagement, stage=Stage.ENV).pk])
            self._wait([pk])
        self._pass(Stage.ENV, self.models)

    def adaptation(self) -> None:
        self._required_jobs(Stage.TRAIN_ADAPT, self.trained)
        for model in self.trained:
            self.memory.once(f"routes.{model.code}",
                             lambda model=model: self._record_api_routes(model))
        self._pass(Stage.TRAIN_ADAPT, self.trained)

    def tuning(self) -> None:
        self._train_and_compare(TRAINING)
        self.memory.once("differences", lambda: self._accept_differences(self.trained[0]))
        self._pass(Stage.TRAIN_TUNE, self.trained)

    def failing_tuning(self) -> None:
        """A run whose losses are off fails its criterion; the other model is still training."""
        self._train_and_compare(WRONG_RATE)
        self.memory.once("differences", lambda: self._accept_differences(self.trained[0]))
        self._work(Stage.TRAIN_TUNE, self.trained)
        self.memory.once("live", lambda: self._queue(
            Stage.TRAIN_TUNE, "adapt.megatron_train", LIVE, self.trained[-1]).pk)

    def _train_and_compare(self, training: dict) -> None:
        llm = self.trained[:1]
        self._configurations(llm)
        self._jobs(Stage.TRAIN_TUNE, "acc.compare", {
            "target": "~/data/dump_npu/step0", "golden": "~/data/dump_gpu/step0"}, llm)
        [run] = self._jobs(Stage.TRAIN_TUNE, "adapt.megatron_train", training, llm)
        baseline = Baseline.objects.get(model=llm[0])
        self._jobs(Stage.TRAIN_TUNE, "acc.loss_compare", {
            "baseline": baseline.artifact_id,
            "candidate": run.artifacts.get(name="log.txt").pk}, llm)

    def _record_api_routes(self, model: MigratedModel) -> None:
        """What the analyses do not know is tried by the smoke training; the rest is replaced."""
        for kinds, route, reason in (
                ({ApiClass.UNKNOWN}, "as_is", "试训练验证：在 NPU 上可运行"),
                ({ApiClass.UNSUPPORTED, ApiClass.CUDA}, "replace", "改用 NPU 已支持的等价接口")):
            apis = [entry.api for entry in found_apis(model) if entry.kind in kinds]
            if apis:
                workers.record_routes(actor=self.who["consultant"], model=model, apis=apis,
                                      route=route, reason=reason)

    def _configurations(self, models: list[MigratedModel]) -> None:
        """The check finds another learning rate; corrected, what is left differs by nature."""
        for pack in ("config_npu.zip", "config_npu_corrected.zip"):
            [job] = self._jobs(Stage.TRAIN_TUNE, "acc.config_check", {
                "bench": "~/data/config_gpu.zip", "candidate": f"~/data/{pack}"}, models)
        reading = newest_config_check(models[0])
        self.memory.once("configuration", lambda: self._propose_differences(reading))
        self.log(f"  configuration check #{job.pk}: {outcome_of(reading).outcome}")

    def _propose_differences(self, reading) -> None:
        for entry in assessments.propose_differences(
                actor=self.who["consultant"], engagement=self.engagement,
                differences=compared(reading.values, []), reason="GPU 与 NPU 软件栈本身不同"):
            assessments.review_difference(actor=self.who["manager"], entry=entry)

    def _accept_differences(self, model: MigratedModel) -> None:
        """The migration itself changes the environment; a person says so, item by item."""
        for criterion, verdict in latest_verdicts(self.engagement, model):
            open_items = [item.name for item in unreviewed(
                criterion, verdict.measurement if verdict else None)]
            if open_items:
                assessments.accept_and_judge(
                    actor=self.who["manager"], criterion=criterion, items=open_items,
                    reason="迁移目标平台即昇腾，合同已约定")
                self.log(f"  accepted differences: {', '.join(open_items)}")

    def inference(self) -> None:
        self._required_jobs(Stage.INFER_MIGRATE, self.models)
        self._pass(Stage.INFER_MIGRATE, self.models)
        self._required_jobs(Stage.INFER_TUNE, self.models)
        self._pass(Stage.INFER_TUNE, self.models)
        for criterion, verdict in latest_verdicts(self.engagement):
            self.log(f"  {criterion}: {verdict.outcome if verdict else 'not_measured'} – "
                     f"{verdict_sentence(criterion, verdict)}")

    def _converted(self, model: MigratedModel) -> dict[str, str]:
        """Where the model's conversion left its offline model on the node."""
        job = model.jobs.filter(kind="inf.atc", state=JobState.SUCCEEDED).latest("pk")
        return {"model_file": f"~/{self.node.scratch_dir}/{job.directory_name}/work/model.om"}

    def terminal_job(self) -> None:
        """A job that a consultant queues in a terminal and follows to its end over the API."""
        if self.terminal:
            printed = self.terminal.run(
                "jobs", "run", "env.host_probe", "--engagement", self.engagement.code,
                "--node", self.node.name, "--follow")
            self.log(f"  {printed.splitlines()[-1]}")

    def terminal_files(self) -> None:
        """The issued files and the bundle, as the customer's people fetch them."""
        if self.terminal:
            brought = self.terminal.run("documents", "get", self.engagement.code, "--bundles",
                                        "-o", self.out / "fetched")
            self.log(f"  {len(brought.splitlines())} files fetched, their checksums are right")

    # Small steps ---------------------------------------------------------------------

    def _queue(self, stage: str, kind: str, parameters: dict, model: MigratedModel) -> Job:
        return workers.queue_job(
            actor=self.who["consultant"], kind=kind, parameters=parameters, model=model,
            stage=stage, node=None if kind == "acc.loss_compare" else self.node)

    def _required_jobs(self, stage: str, models: list[MigratedModel]) -> None:
        """What the models' routes ask for in the stage, one kind after the other."""
        for kind, planned in groupby(planned_jobs(models, stage), key=lambda job: job.kind):
            chosen = list(planned)
            self._wait(self.memory.once(f"jobs.{kind}", lambda chosen=chosen: [
                self._queue_planned(stage, job).pk for job in chosen]))

    def _queue_planned(self, stage: str, job: PlannedJob) -> Job:
        converted = self._converted(job.model) if job.kind == "inf.om_bench" else {}
        return self._queue(stage, job.kind, {**job.parameters, **converted}, job.model)

    def _jobs(self, stage: str, kind: str, parameters: dict, models: list[MigratedModel]
              ) -> list[Job]:
        """One job per model, run by the worker; all must succeed."""
        return self._wait(self.memory.once(f"jobs.{kind}", lambda: [
            self._queue(stage, kind, parameters, model).pk for model in models]))

    def _wait(self, keys: list[int], seconds: float = 3600) -> list[Job]:
        """The jobs when all have ended well; one whose node was away has its retry instead."""
        jobs = self._ended(keys, seconds)
        for _attempt in range(ATTEMPTS - 1):
            for job in jobs:
                if job.state in FINDERS_FAULT and not job.retries.exists():
                    workers.retry_job(actor=self.who["consultant"], job=job)
            jobs = self._ended(keys, seconds)
        for job in jobs:
            if job.state != JobState.SUCCEEDED:
                raise WrongState(f"{job}: {job.state} – {job.sentence} {job.technical_cause}")
        self.log(f"  {len(jobs)} × {jobs[0].kind}: {jobs[-1].sentence}")
        return jobs

    def _ended(self, keys: list[int], seconds: float) -> list[Job]:
        """The jobs, or the last retry of each, once they have ended."""
        newest = [_newest_attempt(pk) for pk in keys]
        found = Job.objects.filter(pk__in=newest)
        self._until(lambda: not found.exclude(state__in=FINAL_STATES).exists(), seconds,
                    f"jobs still open: {newest}")
        return [found.get(pk=pk) for pk in newest]

    def _until(self, is_done: Callable[[], bool], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > deadline:
                raise TimeoutError(what)
            require_practice()
            self.tend()
            time.sleep(0.3)

    def _evidence(self, model: MigratedModel, stage: str) -> str:
        """A file of the model's stage; where there is none, its record in words."""
        newest = Artifact.objects.filter(model=model, job__stage=stage).first()
        return f"#{newest.pk}" if newest else "演练记录"

    def _pass(self, stage: str, models: list[MigratedModel]) -> None:
        """Start, tick, submit and pass the stage of each model."""
        self._work(stage, models)
        for model in models:
            self.memory.once(f"pass.{stage}", lambda model=model: self._submit_and_pass(
                model.stages.get(stage=stage)))
        self.log(f"  {stage}: {len(models)} models passed")

    def _submit_and_pass(self, record: StageRecord) -> None:
        engagements.move_stage(actor=self.who["consultant"], record=record, move=StageMove.SUBMIT)
        engagements.move_stage(actor=self.who["manager"], record=record, move=StageMove.PASS)

    def _work(self, stage: str, models: list[MigratedModel]) -> None:
        """Start the stage of each model where nothing has started it, and tick its checklist."""
        for model in models:
            self.memory.once(f"work.{stage}", lambda model=model: self._start_and_tick(
                model.stages.get(stage=stage)))

    def _start_and_tick(self, record: StageRecord) -> None:
        consultant = self.who["consultant"]
        if record.state == StageState.NOT_STARTED:
            engagements.move_stage(actor=consultant, record=record, move=StageMove.START)
        for item in record.checklist.select_related("record"):
            item.record.refresh_from_db()
            engagements.tick_item(actor=consultant, item=item,
                                  evidence=self._evidence(record.model, record.stage))


def _newest_attempt(pk: int) -> int:
    while retry := Job.objects.filter(retry_of=pk).values_list("pk", flat=True).first():
        pk = retry
    return pk
