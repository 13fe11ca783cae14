"""The measured quantities, one row each: where a figure stands, its unit, its words, what it shows.

Labels in pages, units in reports, aspects of the coverage table, bars and rounds are derived from
these rows. Code is needed only for a figure that a file does not hold as it stands (a share of
two counters, a curve): see `quantities`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolreaders.sentences import gettext_noop as _

MEAN = ".mean"
TRAINING, INFERENCE = "training", "inference"
CONVERTED, SERVED = ("offline", "mindspore_lite", "online"), ("mindie", "vllm_ascend")


@dataclass(frozen=True)
class QuantityRow:
    """One quantity.

    Args:
        name: its code, in the API too; `name:POINT` and `score:TASK` are quantities of the row.
        label: English; the portal translates it.
        unit: "%" of a share, which is kept as a fraction.
        aspect: function, accuracy, performance or stability.
        is_higher_better: its direction.
        paths: reading kind, with its form after a slash where it has several, → dotted paths of
            the value, of which the first that holds a number counts.
        covers: (delivery, aspect, inference routes; none for all) of which a criterion on it is the
            agreed one. Empty: a diagnosis, which covers nothing, whatever its aspect.
        is_charted: stands in the bars and the rounds of tuning, in the order of the rows.
        is_collected: kept as a figure of the firm over engagements; nothing in it names a customer.
    """

    name: str
    label: str
    unit: str
    aspect: str
    is_higher_better: bool = False
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    covers: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    is_charted: bool = False
    is_collected: bool = False

    @property
    def is_share(self) -> bool:
        return self.unit == "%"

    @property
    def has_points(self) -> bool:
        """Whether a benchmark measures it at points, such as a batch size."""
        return "inference_benchmark" in self.paths

    @property
    def statistics_path(self) -> str:
        """Where mean, median, p99 and maximum of it stand; "" for a quantity without them."""
        return next((path.removesuffix(MEAN) for paths in self.paths.values() for path in paths
                     if path.endswith(MEAN)), "")


def _charted(name: str, label: str, unit: str, *, is_collected: bool = True,
             is_higher_better: bool = False, of: str = "", **paths: str | tuple[str, ...]
             ) -> QuantityRow:
    return QuantityRow(name, label, unit, "performance", is_higher_better, {
        kind.replace("__", "/"): (path,) if isinstance(path, str) else path
        for kind, path in paths.items()}, covers=((of, "performance", ()),) if of else (),
        is_charted=True, is_collected=is_collected)


QUANTITIES = (
    _charted("tokens_per_second", _("Training throughput (tokens)"), "/s", is_higher_better=True,
             of=TRAINING, training_log=(
                 "throughput.tokens_per_second", "throughput.derived_tokens_per_second"),
             node_report__throughput="tokens_per_second"),
    _charted("samples_per_second", _("Training throughput (samples)"), "/s", is_higher_better=True,
             of=TRAINING, training_log="throughput.samples_per_second"),
    _charted("iteration_time_ms", _("Time per step"), "ms", of=TRAINING,
             training_log="iteration_time_ms.mean"),
    _charted("inference_throughput", _("Inference throughput"), "/s", is_higher_better=True,
             of=INFERENCE, inference_benchmark=(
                 "throughput.samples_per_second", "throughput.output_tokens_per_second",
                 "throughput.batches_per_second")),
    _charted("latency_ms", _("Inference latency"), "ms", of=INFERENCE,
             inference_benchmark="latency_ms.inference.mean"),
    _charted("ttft_ms", _("Time to the first token"), "ms", of=INFERENCE,
             inference_benchmark="latency_ms.ttft.mean"),
    _charted("tpot_ms", _("Time per output token"), "ms", of=INFERENCE,
             inference_benchmark="latency_ms.tpot.mean"),
    _charted("e2e_latency_ms", _("Latency of a request"), "ms", of=INFERENCE,
             inference_benchmark="latency_ms.e2e.mean"),
    _charted("peak_memory_mb", _("Peak memory"), "MB", of=TRAINING,
             training_log="memory.peak_allocated_mb"),
    _charted("computing_share", _("Computing time of the NPU"), "%", is_higher_better=True,
             is_collected=False, profile__msprof_analyze_advisor="shares.computing"),
    _charted("communication_share", _("Uncovered communication"), "%", is_collected=False,
             profile__msprof_analyze_advisor="shares.communication"),
    _charted("free_share", _("Free time"), "%", is_collected=False,
             profile__msprof_analyze_advisor="shares.free"),
    _charted("memory_move_share", _("Moves in the device memory"), "%", is_collected=False,
             profile__msprof_analyze_advisor="shares.memory_moves"),
    _charted("mfu", _("Model FLOPs utilisation (MFU)"), "%", is_higher_better=True,
             node_report__mfu="mfu"),
    _charted("mbu", _("Memory bandwidth utilisation (MBU)"), "%", is_higher_better=True,
             node_report__mbu="mbu"),
    _charted("hbm_hit_rate", _("HBM hit rate"), "%", is_higher_better=True, is_collected=False),
    QuantityRow("loss_curve", _("Training loss, step by step"), "", "accuracy",
                covers=((TRAINING, "accuracy", ()),)),
    QuantityRow("score", _("Evaluation score"), "", "accuracy", is_higher_better=True,
                covers=((TRAINING, "accuracy", ()), (INFERENCE, "accuracy", ()))),
    QuantityRow("grad_norm_mean", _("Mean gradient norm"), "", "accuracy"),
    QuantityRow("min_cosine", _("Smallest cosine similarity"), "%", "accuracy",
                is_higher_better=True,
                covers=((INFERENCE, "function", CONVERTED), (INFERENCE, "accuracy", ()))),
    QuantityRow("human_not_worse", _("Human evaluation, share not worse"), "%", "accuracy",
                is_higher_better=True,
                covers=((TRAINING, "accuracy", ()), (INFERENCE, "accuracy", ()))),
    QuantityRow("rated_not_worse", _("Quality ratings, share not worse"), "%", "accuracy",
                is_higher_better=True, paths={"quality_ratings": ("not_worse",)},
                covers=((TRAINING, "accuracy", ()), (INFERENCE, "accuracy", ()))),
    QuantityRow("rated_score_loss", _("Quality ratings, loss of the mean"), "%", "accuracy",
                paths={"quality_ratings": ("score_loss",)},
                covers=((TRAINING, "accuracy", ()), (INFERENCE, "accuracy", ()))),
    QuantityRow("weight_files", _("Weight files that are not empty"), "", "function",
                is_higher_better=True, covers=((TRAINING, "function", ()),)),
    QuantityRow("changed_parameters", _("Changed parameters (share of tensors)"), "%", "function",
                is_higher_better=True, covers=((TRAINING, "function", ()),)),
    QuantityRow("finite_steps", _("Finite losses (share of the recorded steps)"), "%", "stability",
                is_higher_better=True, covers=((TRAINING, "stability", ()),)),
    QuantityRow("request_success", _("Answered requests (share)"), "%", "stability",
                is_higher_better=True,
                covers=((INFERENCE, "stability", SERVED), (INFERENCE, "function", SERVED))),
)
BY_NAME = {row.name: row for row in QUANTITIES}


def row_of(quantity: str) -> QuantityRow | None:
    """The row of a quantity such as `latency_ms:b8` or `score:gsm8k`; None for an unknown one."""
    return BY_NAME.get(quantity.partition(":")[0])
