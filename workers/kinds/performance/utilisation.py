"""How much of the chips' peak a training or a decoding uses; runs on the server.

MFU: Chowdhery et al., PaLM (2022), appendix B: tokens/s × (6 N + 12 L H Q T) ÷ (cards × peak), with
H Q the width of all heads; a recomputed forward pass is not counted. MBU: Databricks, LLM Inference
Performance Engineering (2023): (bytes of weights + KV cache) ÷ time per output token ÷ (cards ×
peak bandwidth). What is missing makes the figure not provable; nothing is assumed.
"""

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Judgement, Parameter, register
from workers.kinds.judgement import not_provable
from workers.kinds.performance.chip_peaks import PEAKS
from workers.kinds.performance.throughput import CARDS_USED, FromLogs, answer, step_seconds

PALM, WEIGHTS_ONLY = "palm", "6n"
FORMULAS = {PALM: _("6 N + 12 L H T (PaLM, with attention)"), WEIGHTS_ONLY: _("6 N (weights only)")}
CHIP = Parameter("chip", _("Chip"), "choice", is_required=False, choices=tuple(PEAKS),
                 help=_("Its peak is taken from the table, which names the source."))
SOURCE = Parameter("peak_source", _("Source of the peak"), is_required=False,
                   help=_("Needed with a peak that is typed in."))
SIZE = Parameter("parameters_billion", _("Parameters"), "number", is_required=False, minimum=0.001,
                 maximum=100_000, unit=_("billion"),
                 help=_("Empty: as the log says, else as the model's record does. For mixtures of "
                        "experts those that one token uses."))
MISSING = {"parameters": _("number of parameters"), "peak": _("peak of the chip"),
           "batch": _("global batch size"), "shape": _("layers and hidden size"),
           "tpot": _("time per output token"), "cache": _("layers, KV width and context")}
NOT_PROVABLE = gettext_noop("Not provable, missing: %(missing)s.")


class _Utilisation(FromLogs):
    def clean(self, values):
        cleaned = super().clean(values)
        given = cleaned[self.typed_peak]
        if given and not cleaned["peak_source"]:
            raise InvalidInput(_("A peak that is typed in needs its source."))
        if given and cleaned["chip"]:
            raise InvalidInput(_("Either a chip of the table or a peak of your own."))
        return cleaned

    typed_peak: ClassVar[str]

    def peak(self, parameters: dict, of_table: str) -> tuple[float | None, str]:
        """The peak per card, and its source; None where neither is given nor in the table."""
        if parameters[self.typed_peak]:
            return parameters[self.typed_peak], parameters["peak_source"]
        row = PEAKS.get(parameters["chip"] or "")
        return (getattr(row, of_table), row.source) if row else (None, "")


def _lacking(found: dict[str, Any]) -> tuple[Judgement, dict[str, bytes]] | None:
    missing = [name for name, value in found.items() if not value]
    if not missing:
        return None
    words = ", ".join(str(MISSING[name]) for name in missing)
    return not_provable("inputs", NOT_PROVABLE, {"missing": words}, {"missing": missing}), {}


def _size(job, parameters: dict, values: dict) -> tuple[float | None, str]:
    """Parameters (10^9) and where the number comes from."""
    logged = (values.get("arguments") or values).get("parameters_billion")
    record = getattr(job.model, "parameters_billion", None)
    for value, origin in ((parameters["parameters_billion"], "typed"), (logged, "log"),
                          (record, "model record")):
        if value:
            return float(value), origin
    return None, ""


COMPUTE_ABOVE_PEAK = ngettext_noop(
    "%(shown)s %% is above the peak: an input is wrong (%(speed)s tokens/s, %(size)s billion "
    "parameters, %(cards)d card of %(peak)s TFLOPS).",
    "%(shown)s %% is above the peak: an input is wrong (%(speed)s tokens/s, %(size)s "
    "billion parameters, %(cards)d cards of %(peak)s TFLOPS).", "cards")
COMPUTE_USED = ngettext_noop(
    "%(shown)s %% = %(speed)s tokens/s × %(giga)s GFLOP ÷ (%(cards)d card × %(peak)s "
    "TFLOPS); %(size)s billion parameters; peak after %(peak_source)s.",
    "%(shown)s %% = %(speed)s tokens/s × %(giga)s GFLOP ÷ (%(cards)d cards × %(peak)s "
    "TFLOPS); %(size)s billion parameters; peak after %(peak_source)s.", "cards")


@register
class Mfu(_Utilisation):
    code = "perf.mfu"
    title = _("Model FLOPs utilisation (MFU)")
    description = _("How much of the chips' arithmetic a training uses: tokens per second × "
                    "operations per token ÷ (cards × peak), printed with its inputs.")
    success = _("Every input is known and has a source; otherwise the figure is not provable.")
    typed_peak = "peak_tflops"
    parameters: ClassVar = (
        Parameter("log", _("Training log (file number)"), "artifact"),
        Parameter("seq_length", _("Sequence length"), "integer", minimum=1, maximum=1_048_576,
                  unit="tokens"),
        Parameter("global_batch_size", _("Global batch size"), "integer", is_required=False,
                  minimum=1, maximum=1_000_000, help=_("Empty: as the log says.")),
        CARDS_USED, SIZE,
        Parameter("formula", _("Formula"), "choice", default=PALM, choices=tuple(FORMULAS),
                  names=FORMULAS),
        Parameter("num_layers", _("Layers"), "integer", is_required=False, minimum=1,
                  maximum=10_000),
        Parameter("hidden_size", _("Width of all heads"), "integer", is_required=False, minimum=1,
                  maximum=1_000_000, help=_("Heads × their dimension; mostly the hidden size.")),
        CHIP,
        Parameter("peak_tflops", _("Peak of one card"), "number", is_required=False, minimum=0.1,
                  maximum=1_000_000, unit="TFLOPS"),
        SOURCE,
    )

    def run_here(self, job, parameters):
        p = parameters
        try:
            seconds, values = step_seconds(job, p["log"])
        except InvalidInput as error:
            return Judgement(False, gettext_noop("%(why)s"), {"why": error.message}), {}
        batch = p["global_batch_size"] or (values.get("throughput") or {}).get("global_batch_size")
        billions, origin = _size(job, p, values)
        peak, source = self.peak(p, "tflops")
        with_attention = p["formula"] == PALM
        needed = {"batch": batch, "parameters": billions, "peak": peak}
        if with_attention:
            needed["shape"] = p["num_layers"] and p["hidden_size"]
        if lacking := _lacking(needed):
            return lacking
        attention = 12 * p["num_layers"] * p["hidden_size"] * p["seq_length"] if (
            with_attention) else 0
        tokens = batch * p["seq_length"] / seconds
        per_token = 6 * billions * 1e9 + attention
        share = tokens * per_token / (p["cards_used"] * peak * 1e12)
        facts = {
            "mfu": share, "shown": f"{100 * share:.1f}", "formula": p["formula"],
            "tokens_per_second": tokens, "operations_per_token": per_token,
            "parameters_billion": billions, "parameters_from": origin, "cards": p["cards_used"],
            "seq_length": p["seq_length"], "peak_tflops": peak, "peak_source": source,
            "speed": f"{tokens:.4g}", "size": f"{billions:g}", "peak": f"{peak:g}",
            "giga": f"{per_token / 1e9:.4g}"}
        if share > 1:
            return Judgement(False, COMPUTE_ABOVE_PEAK, facts, facts), {}
        return answer("mfu", COMPUTE_USED, facts)


BANDWIDTH_ABOVE_PEAK = ngettext_noop(
    "%(shown)s %% is above the peak: an input is wrong (%(reached)s GB/s, %(cards)d card of "
    "%(peak)s GB/s).",
    "%(shown)s %% is above the peak: an input is wrong (%(reached)s GB/s, %(cards)d "
    "cards of %(peak)s GB/s).", "cards")
BANDWIDTH_USED = ngettext_noop(
    "%(shown)s %% = %(reached)s GB/s at %(time)s ms per token ÷ (%(cards)d card × %(peak)s "
    "GB/s); peak after %(peak_source)s.",
    "%(shown)s %% = %(reached)s GB/s at %(time)s ms per token ÷ (%(cards)d cards × "
    "%(peak)s GB/s); peak after %(peak_source)s.", "cards")


@register
class Mbu(_Utilisation):
    code = "perf.mbu"
    title = _("Memory bandwidth utilisation (MBU)")
    description = _("How much of the memory bandwidth decoding uses: bytes of weights and KV cache "
                    "÷ time per output token ÷ (cards × peak), printed with its inputs.")
    success = _("Every input is known and has a source; otherwise the figure is not provable.")
    stages = (Stage.INFER_TUNE,)
    typed_peak = "peak_gb_per_second"
    parameters: ClassVar = (
        Parameter("result", _("Result of a serving benchmark (file number)"), "artifact"),
        CARDS_USED, SIZE,
        Parameter("weight_bits", _("Bits of a weight"), "choice", default="16",
                  choices=("4", "8", "16", "32")),
        Parameter("num_layers", _("Layers"), "integer", is_required=False, minimum=1,
                  maximum=10_000),
        Parameter("kv_width", _("KV width"), "integer", is_required=False, minimum=1,
                  maximum=1_000_000, help=_("KV heads × their dimension.")),
        Parameter("context", _("Mean context"), "integer", is_required=False, minimum=1,
                  maximum=4_194_304, unit="tokens",
                  help=_("Input and half of the output, of one request.")),
        Parameter("batch", _("Requests decoded together"), "integer", default=1, minimum=1,
                  maximum=100_000),
        CHIP,
        Parameter("peak_gb_per_second", _("Peak bandwidth of one card"), "number",
                  is_required=False, minimum=1, maximum=1_000_000, unit="GB/s"),
        SOURCE,
    )

    def run_here(self, job, parameters):
        from workers.models import Artifact

        p = parameters
        artifact = Artifact.objects.filter(pk=p["result"], engagement=job.engagement).first()
        stored = artifact and artifact.readings.filter(kind="inference_benchmark").first()
        tpot = (((stored.values if stored else {}).get("latency_ms") or {}).get("tpot")
                or {}).get("mean")
        billions, origin = _size(job, p, {})
        peak, source = self.peak(p, "gb_per_second")
        if lacking := _lacking({
                "tpot": tpot, "parameters": billions, "peak": peak,
                "cache": p["num_layers"] and p["kv_width"] and p["context"]}):
            return lacking
        weights = billions * 1e9 * int(p["weight_bits"]) / 8
        cache = 2 * p["num_layers"] * p["kv_width"] * p["context"] * p["batch"] * 2  # 16-bit KV
        reached = (weights + cache) / (tpot / 1000)
        share = reached / (p["cards_used"] * peak * 1e9)
        facts = {
            "mbu": share, "shown": f"{100 * share:.1f}", "tpot_ms": tpot, "weight_bytes": weights,
            "cache_bytes": cache, "parameters_billion": billions, "parameters_from": origin,
            "cards": p["cards_used"], "batch": p["batch"], "peak_gb_per_second": peak,
            "peak_source": source, "reached": f"{reached / 1e9:.4g}", "peak": f"{peak:g}",
            "time": f"{tpot:.4g}"}
        if share > 1:
            return Judgement(False, BANDWIDTH_ABOVE_PEAK, facts, facts), {}
        return answer("mbu", BANDWIDTH_USED, facts)
