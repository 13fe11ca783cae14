"""Training with Megatron-LM / MindSpeed (DOMAIN 4.2, 5.5)."""

from typing import ClassVar

from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.errors import InvalidInput
from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register


@register
class MegatronTrain(JobKind):
    code = "adapt.megatron_train"
    title = _("Megatron / MindSpeed training")
    description = _("Starts pretrain_gpt.py with torchrun and follows its loss.")
    stages = (Stage.TRAIN_TUNE, Stage.TRAIN_ADAPT)
    timeout_seconds = 7 * 24 * 3600
    shows_progress = True
    collect = ("checkpoints/latest_checkpointed_iteration.txt", "checkpoints/manifest.txt")
    parameters: ClassVar = (
        Parameter("script", _("Training script"), "path", default="pretrain_gpt.py"),
        Parameter("cards", _("Cards"), "integer", default=8, minimum=1, maximum=8),
        Parameter("tensor_parallel", _("Tensor parallel size (TP)"), "integer", default=2,
                  minimum=1, maximum=64),
        Parameter("pipeline_parallel", _("Pipeline parallel size (PP)"), "integer", default=2,
                  minimum=1, maximum=64),
        Parameter("train_iters", _("Iterations"), "integer", default=200, minimum=1,
                  maximum=10_000_000),
        Parameter("micro_batch_size", _("Micro batch size"), "integer", default=1, minimum=1,
                  maximum=4096),
        Parameter("global_batch_size", _("Global batch size"), "integer", default=16, minimum=1,
                  maximum=1_000_000),
        Parameter("seq_length", _("Sequence length"), "integer", default=1024, minimum=16,
                  maximum=1_048_576, unit="tokens"),
        Parameter("seed", _("Seed"), "integer", default=1234, minimum=0, maximum=2**31 - 1),
        Parameter("learning_rate", _("Peak learning rate"), "number", default=1e-4, minimum=0,
                  maximum=1),
        Parameter("extra", _("Further arguments"), is_required=False,
                  help=_("Separated by blanks, passed as they are.")),
    )

    def clean(self, values):
        cleaned = super().clean(values)
        cards, tp, pp = (cleaned[k] for k in ("cards", "tensor_parallel", "pipeline_parallel"))
        if cards % (tp * pp):  # R-PAR-02
            raise InvalidInput(translate(
                "%(cards)d cards cannot be divided by TP × PP = %(product)d.")
                % {"cards": cards, "product": tp * pp})
        step = cleaned["micro_batch_size"] * cards // (tp * pp)
        if cleaned["global_batch_size"] % step:  # R-PAR-04
            raise InvalidInput(translate(
                "The global batch size must be a multiple of micro batch × DP = %(step)d.")
                % {"step": step})
        return cleaned

    def argv(self, parameters):
        p = parameters
        options = {
            "train-iters": p["train_iters"], "micro-batch-size": p["micro_batch_size"],
            "global-batch-size": p["global_batch_size"], "seq-length": p["seq_length"],
            "seed": p["seed"], "lr": p["learning_rate"],
            "tensor-model-parallel-size": p["tensor_parallel"],
            "pipeline-model-parallel-size": p["pipeline_parallel"],
            "log-interval": 1, "save": "checkpoints", "save-interval": p["train_iters"],
        }
        flat = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return ["torchrun", "--nproc_per_node", str(p["cards"]), "--master_port", "6001",
                p["script"], *flat, "--log-throughput", *(p["extra"] or "").split()]

    def environment(self, parameters):
        return {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "PYTHONUNBUFFERED": "1"}

    def judge(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("training_log")
        loss = readings[0].values.get("loss", {}) if readings else {}
        wanted = finished.parameters["train_iters"]
        values = {"points": loss.get("points", 0), "wanted": wanted, "last": loss.get("last"),
                  "status": finished.exit_status, "step": loss.get("first_nonfinite_step")}
        if loss.get("nonfinite"):
            return Judgement(False, gettext_noop(
                "The loss is not finite from iteration %(step)s on."), values)
        if finished.exit_status != 0:
            return Judgement(False, gettext_noop(
                "The training ended with status %(status)s after %(points)d of %(wanted)d "
                "iterations."), values)
        if loss.get("last_step") != wanted:
            return Judgement(False, gettext_noop(
                "The log shows %(points)d of %(wanted)d iterations."), values)
        values["last_text"] = f"{loss['last']:.4f}"
        return Judgement(True, gettext_noop(
            "%(points)d iterations, all losses finite, last loss %(last_text)s."), values)
