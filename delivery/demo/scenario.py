"""The sample engagement from the survey to the signed acceptance, as its people would do it."""

import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from django.conf import settings
from django.db import connection

from assessments import services as assessments
from assessments.accuracy.allowlist import compared, outcome_of
from assessments.accuracy.readings import newest_config_check
from assessments.models import MetricDefinition
from assessments.queries import latest_verdicts, verdict_sentence
from assessments.verdicts.environments import unreviewed
from delivery.demo.child_processes import (
    Children,
    free_port,
    node_command,
    wait_for,
    worker_command,
)
from delivery.demo.sample_engagement import load_sample
from delivery.demo.sample_node import enrol_practice_node
from delivery.demo.scenario_documents import ScenarioDocuments
from delivery.documents.bilingual import LANGUAGES
from delivery.quotes import services as quotes
from delivery.quotes.models import PriceLine, RateCard
from delivery.quotes.quote_files import RENDERERS, quote_file
from delivery.surveys import services as surveys
from engagements import services as engagements
from engagements.errors import WrongState
from engagements.models import MigratedModel, StageRecord, User
from engagements.stages import Scope, Stage, StageMove, StageState
from workers import services as workers
from workers.models import Artifact, Job, JobState
from workers.models.job import FINAL_STATES
from workers.unresolved_apis import ApiClass, found_apis

SOURCE = "~/data/inspect_net"
SMOKE = {"script": "~/projects/inspection/run.py", "arguments": "smoke 12"}
TRAINING = {"cards": 8, "train_iters": 400, "tensor_parallel": 2, "pipeline_parallel": 2}


class DemoScenario(ScenarioDocuments):
    """The sample engagement from start to end, through the same services as a person's clicks."""

    def __init__(self, out: Path, log: Callable[[str], None]) -> None:
        self.out, self.log = out, log
        self.children = Children()

    def go(self) -> None:
        """All steps in order. Raises DeskError or TimeoutError at the first that fails."""
        try:
            self._start()
            for step in (self.survey, self.quote, self.criteria, self.environment, self.training,
                         self.inference, self.report, self.acceptance, self.sheets):
                self.log(f"• {step.__name__}")
                step()
        finally:
            self.children.stop()

    def _start(self) -> None:
        root, port = Path(settings.VAR_DIR) / "practice-node", free_port()
        self.children.start("practice node", node_command(root, port))
        wait_for("127.0.0.1", port)
        self.engagement = load_sample()
        self.node = enrol_practice_node(root, "127.0.0.1", port)
        self.who = {user.username: user for user in User.objects.all()}
        self.models = list(self.engagement.models.all())
        connection.close()
        self.children.start("worker", worker_command())
        self.log(f"• engagement {self.engagement.code} with {len(self.models)} models, "
                  f"node {self.node} enrolled")

    # Stages ----------------------------------------------------------------------

    def survey(self) -> None:
        self._jobs(Stage.SURVEY, "survey.pt_analyse", {"source": SOURCE}, self.models)
        manager, survey = self.who["manager"], self.engagement.survey
        decision = surveys.decide(actor=manager, survey=survey, verdict="go",
                                  reason="资料齐备，算子缺口均有路线。")
        taken = surveys.apply_consequences(actor=manager, survey=survey)
        self.log(f"  survey: readiness {decision.score}/100, {decision.verdict}; "
                  f"{len(taken)} consequences taken over")
        self._pass(Stage.SURVEY, self.models)

    def quote(self) -> None:
        sales, card = self.who["sales"], RateCard.objects.get()
        quote = quotes.create_quote(actor=sales, engagement=self.engagement)
        quotes.add_resources(actor=sales, quote=quote, card=card, months=Decimal(3))
        for price, days in zip(PriceLine.objects.filter(card=card, unit="person_day"),
                               (10, 6, 8, 12, 6, 10, 8, 4, 20, 5, 15, 8, 3), strict=True):
            quotes.add_line(actor=sales, quote=quote, price=price, quantity=Decimal(days))
        quote.refresh_from_db()
        quotes.update_quote(actor=sales, quote=quote,
                            source_note="以各行之和为准，来源文件所列合计有误。",
                            discount_rate=Decimal("0.05"), discount_reason="框架协议客户")
        quotes.submit_quote(actor=sales, quote=quote)
        quotes.review_quote(actor=self.who["consultant"], quote=quote)
        quotes.approve_quote(actor=self.who["manager"], quote=quote)
        quote = quotes.issue_quote(actor=sales, quote=quote)
        quotes.answer_quote(actor=self.who["reviewer"], quote=quote, is_accepted=True)
        quotes.store_quote_files(quote.pk)
        for language in LANGUAGES:
            for form in RENDERERS:
                self._write(f"quote-{language}.{form}", quote_file(quote, language, form))
        self.log(f"  {quote}: {quote.snapshot['totals']['gross']} CNY including tax, accepted")

    def criteria(self) -> None:
        lead, llm = self.who["lead"], self._model("LLM")
        reference, *repeats = [job.artifacts.get(name="log.txt") for job in self._jobs(
            Stage.DESIGN, "adapt.megatron_train",
            {**TRAINING, "extra": "--practice-device gpu"}, [llm] * 3)]
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
            assessments.add_criterion(
                actor=lead, criteria_set=draft, model=model, stage=Stage.INFER_TUNE,
                threshold=Decimal("200"), definition=MetricDefinition.objects.get(code="latency"))
        assessments.confirm_criteria(actor=self.who["reviewer"], criteria_set=draft)
        signed = assessments.sign_criteria(actor=self.who["manager"], criteria_set=draft)
        self.log(f"  criteria {signed} signed, {signed.criteria.count()} criteria, "
                  f"hash {signed.content_hash[:16]}")
        self._pass(Stage.DESIGN, self.models)

    def environment(self) -> None:
        for kind in ("env.npu_info", "env.host_probe", "env.torch_check"):
            job = workers.queue_job(actor=self.who["consultant"], kind=kind, node=self.node,
                                    engagement=self.engagement, stage=Stage.ENV)
            self._wait([job])
        self._pass(Stage.ENV, self.models)

    def training(self) -> None:
        trained = [m for m in self.models if m.scope != Scope.INFERENCE]
        self._jobs(Stage.TRAIN_ADAPT, "adapt.gpu2npu", {"source": SOURCE}, trained)
        self._jobs(Stage.TRAIN_ADAPT, "adapt.smoke_train", SMOKE, trained)
        for model in trained:
            self._record_api_routes(model)
        self._jobs(Stage.TRAIN_ADAPT, "adapt.ckpt_check", {"folder": "~/data/ckpt"}, trained)
        self._pass(Stage.TRAIN_ADAPT, trained)
        llm = [self._model("LLM")]
        self._configurations(llm)
        self._jobs(Stage.TRAIN_TUNE, "acc.compare", {
            "target": "~/data/dump_npu/step0", "golden": "~/data/dump_gpu/step0"}, llm)
        [run] = self._jobs(Stage.TRAIN_TUNE, "adapt.megatron_train", TRAINING, llm)
        baseline = llm[0].baselines.get()
        self._jobs(Stage.TRAIN_TUNE, "acc.loss_compare", {
            "baseline": baseline.artifact_id,
            "candidate": run.artifacts.get(name="log.txt").pk}, llm)
        self._accept_differences(llm[0])
        self._pass(Stage.TRAIN_TUNE, trained)

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
        for entry in assessments.propose_differences(
                actor=self.who["consultant"], engagement=self.engagement,
                differences=compared(reading.values, []), reason="GPU 与 NPU 软件栈本身不同"):
            assessments.review_difference(actor=self.who["manager"], entry=entry)
        self.log(f"  configuration check #{job.pk}: {outcome_of(reading).outcome}")

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
        jobs = self._jobs(Stage.INFER_MIGRATE, "inf.atc", {"model_file": "~/data/model.onnx"},
                          self.models)
        self._pass(Stage.INFER_MIGRATE, self.models)
        benches = []
        for job in jobs:
            place = f"~/{self.node.scratch_dir}/{job.directory_name}/work/model.om"
            benches.append(self._queue(Stage.INFER_TUNE, "inf.om_bench",
                                       {"model_file": place, "loop": 50}, job.model))
        self._wait(benches)
        self._pass(Stage.INFER_TUNE, self.models)
        for criterion, verdict in latest_verdicts(self.engagement):
            self.log(f"  {criterion}: {verdict.outcome if verdict else 'not_measured'} – "
                      f"{verdict_sentence(criterion, verdict)}")

    # Small steps ---------------------------------------------------------------------

    def _model(self, code: str) -> MigratedModel:
        return next(model for model in self.models if model.code == code)

    def _queue(self, stage: str, kind: str, parameters: dict, model: MigratedModel) -> Job:
        return workers.queue_job(
            actor=self.who["consultant"], kind=kind, parameters=parameters, model=model,
            stage=stage, node=None if kind == "acc.loss_compare" else self.node)

    def _jobs(self, stage: str, kind: str, parameters: dict, models: list[MigratedModel]
              ) -> list[Job]:
        """One job per model, run by the worker; all must succeed."""
        return self._wait([self._queue(stage, kind, parameters, m) for m in models])

    def _wait(self, jobs: list[Job], seconds: float = 120) -> list[Job]:
        found = Job.objects.filter(pk__in=[job.pk for job in jobs]).order_by("pk")
        self._until(lambda: not found.exclude(state__in=FINAL_STATES).exists(), seconds,
                    f"{jobs[0].kind}: jobs still open")
        jobs = list(found.all())
        for job in jobs:
            if job.state != JobState.SUCCEEDED:
                raise WrongState(f"{job}: {job.state} – {job.sentence} {job.technical_cause}")
        self.log(f"  {len(jobs)} × {jobs[0].kind}: {jobs[-1].sentence}")
        return jobs

    def _until(self, is_done: Callable[[], bool], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > deadline:
                raise TimeoutError(what)
            self.children.restart_ended()
            time.sleep(0.2)

    def _evidence(self, model: MigratedModel, stage: str) -> str:
        """A file of the model's stage; where there is none, its record in words."""
        newest = Artifact.objects.filter(model=model, job__stage=stage).first()
        return f"#{newest.pk}" if newest else "演练记录"

    def _pass(self, stage: str, models: list[MigratedModel]) -> None:
        """Start, tick, submit and pass the stage of each model."""
        consultant, manager = self.who["consultant"], self.who["manager"]
        for record in self._work(stage, models):
            engagements.move_stage(actor=consultant, record=record, move=StageMove.SUBMIT)
            engagements.move_stage(actor=manager, record=record, move=StageMove.PASS)
        self.log(f"  {stage}: {len(models)} models passed")

    def _work(self, stage: str, models: list[MigratedModel]) -> list[StageRecord]:
        """Start the stage of each model where nothing has started it, and tick its checklist."""
        consultant = self.who["consultant"]
        records = [model.stages.get(stage=stage) for model in models]
        for record in records:
            if record.state == StageState.NOT_STARTED:
                engagements.move_stage(actor=consultant, record=record, move=StageMove.START)
            for item in record.checklist.select_related("record"):
                item.record.refresh_from_db()
                engagements.tick_item(actor=consultant, item=item,
                                      evidence=self._evidence(record.model, stage))
        return records
