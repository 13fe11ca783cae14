"""Facts of models and services (DOMAIN 5.5, 5.7)."""

from collections.abc import Iterator

from workers.rules.facts.base import Observed, Seen, observes


@observes("onnx_model", "opset")
def onnx(seen: Seen) -> Iterator[Observed]:
    yield Observed("opset", seen.values.get("opset"))


@observes("model_config", "mindie_dtype model_family num_layers hidden_size num_heads")
def model_config(seen: Seen) -> Iterator[Observed]:
    """config.json beside the weights: MindIE takes its data type from there (R-INF-09)."""
    names = {"mindie_dtype": "dtype", "model_family": "model_type", "num_layers": "layers",
             "hidden_size": "hidden_size", "num_heads": "heads"}
    for fact, key in names.items():
        yield Observed(fact, seen.values.get(key), seen.line(key))


@observes("serving_config", "mindie_parallel")
def service(seen: Seen) -> Iterator[Observed]:
    """MindIE's conf/config.json: parallel sizes of the model (R-INF-11)."""
    yield Observed("mindie_parallel", seen.values.get("parallel") or None, seen.line("parallel"))


@observes("quantization", "quantisation granularity")
def quantised(seen: Seen) -> Iterator[Observed]:
    """What msmodelslim made: W8A8, W8A8_DYNAMIC (per token), a group size above 0 (per group)."""
    made = str(seen.values.get("quant_type") or "").lower()
    if seen.values.get("form") != "quant_description" or not made:
        return
    group = int(seen.values.get("group_size") or 0)
    by = "group" if group > 0 else "token" if made.endswith("_dynamic") else "channel"
    yield Observed("quantisation", made.removesuffix("_dynamic").replace("w8a8s", "w8a8_sparse"))
    yield Observed("granularity", by)


@observes("conversion_log", "soc_version framework model_file is_dvpp_chained")
def conversion(seen: Seen) -> Iterator[Observed]:
    """Options that ATC names as wrong in its log."""
    options = {"soc_version": "soc_version", "framework": "framework", "model": "model_file"}
    for entry in seen.values.get("parameters") or []:
        name = options.get(str(entry.get("name")).lstrip("-"))
        if name:
            yield Observed(name, entry.get("value") or None)
    for error in seen.values.get("errors") or []:
        if "insert_op" in str(error.get("text")) or "aipp" in str(error.get("text")).lower():
            yield Observed("is_dvpp_chained", True, error.get("line"))
            return
