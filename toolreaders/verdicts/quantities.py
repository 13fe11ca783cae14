"""Which quantities a reading holds, and where in its values they stand."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from toolreaders.base import ReadError
from toolreaders.serving.points import is_one_of_several, point_name
from toolreaders.verdicts.preferences import not_worse
from toolreaders.verdicts.quantity_rows import BY_NAME, QUANTITIES

LOSS_CURVE = "loss_curve"
MEGABYTE = 2**20
STEP_FORMS = ("step_trace_time", "cluster_step_trace_time")
STEP_COLUMNS = {"computing": "Computing", "communication": "Communication(Not Overlapped)",
                "free": "Free", "stage": "Stage"}
STEP_SHARES = {"communication_share": "communication", "free_share": "free"}
WEIGHT_ENDINGS = (".pt", ".pth", ".bin", ".safetensors", ".ckpt", ".distcp", ".npz", ".npy")


@dataclass(frozen=True)
class Quantity:
    """A measured quantity. `value` is None for a curve: the artifact itself is the figure.

    Scores are fractions, named `score:task/metric,filter`; memory is in MB of 2^20 bytes.
    """

    name: str
    value: float | None
    unit: str
    place: str


def quantities(kind: str, values: dict) -> Iterator[Quantity]:
    """The quantities of one reading's values (see the readers for their keys)."""
    computed = {"training_log": _training, "inference_benchmark": _benchmark,
                "evaluation": _evaluation, "memory": _memory, "profile": _profile,
                "accuracy_compare": _comparison, "node_report": _report}
    if kind != "inference_benchmark":  # whose figures are those of a point
        yield from _declared(kind, values)
    if kind in computed:
        yield from (q for q in computed[kind](values) if q.value is None or _number(q.value))


def value_of(kind: str, values: dict, name: str) -> float | None:
    """The value of a quantity; None where the reading does not hold it.

    Raises ReadError where it holds several that differ: none of them may be picked (AR-07).
    """
    found = [q.value for q in quantities(kind, values) if q.name == name]
    if len({repr(value) for value in found}) > 1:
        raise ReadError("contradictory_values",
                        f"The file holds {len(found)} different values of {name}.")
    return found[0] if found else None


def _training(values: dict) -> Iterator[Quantity]:
    if (values.get("loss") or {}).get("points"):
        yield _measured(LOSS_CURVE, None, "loss")
        yield from _finite_steps(values["loss"])
    yield from _gradients(values.get("grad_norm") or {})


def _gradients(norms: dict) -> Iterator[Quantity]:
    """The mean gradient norm; not finite where a norm is not and the log does not say why."""
    if norms.get("nonfinite", 0) > norms.get("explained", 0):
        yield _measured("grad_norm_mean", float("nan"), "grad_norm.nonfinite")
    elif _number(norms.get("mean")):
        yield _measured("grad_norm_mean", float(norms["mean"]), "grad_norm.mean")


def _finite_steps(loss: dict) -> Iterator[Quantity]:
    """Share of the recorded losses that are finite; a fraction."""
    points, bad = loss.get("points"), loss.get("nonfinite")
    if _number(points) and _number(bad) and points:
        yield _measured("finite_steps", (points - bad) / points, "loss.nonfinite")


def _benchmark(values: dict) -> Iterator[Quantity]:
    if values.get("valid") is False:  # MLPerf says so itself
        return
    found = list(_declared("inference_benchmark", values))
    if not is_one_of_several(values):
        yield from found
    if point := point_name(values):
        yield from (replace(quantity, name=f"{quantity.name}:{point}") for quantity in found)
    yield from _answered(values.get("requests"))


def _answered(requests: dict | None) -> Iterator[Quantity]:
    """Share of the requests that were answered; only where the tool counts both."""
    done, failed = (requests.get("completed"), requests.get("failed")) if isinstance(
        requests, dict) else (None, None)
    if _number(done) and _number(failed) and done + failed > 0:
        yield _measured("request_success", done / (done + failed), "requests.completed")


def _evaluation(values: dict) -> Iterator[Quantity]:
    if values.get("expected"):  # a configuration's expectation, not a measurement
        return
    for number, score in enumerate(values.get("scores") or []):
        value = score.get("value")
        if _number(value) and values.get("scale") == "percent":
            value = float(Decimal(repr(value)) / 100)
        yield Quantity(score_name(score), value if _number(value) else float("nan"), "",
                       f"scores.{number}.value")


def score_name(score: dict) -> str:
    """`score:gsm8k/exact_match,strict-match`, as far as the result names task, metric, filter."""
    metric = ",".join(score[key] for key in ("metric", "filter")
                      if score.get(key) and score[key] != "none")
    return "score:" + "/".join(part for part in (score.get("task"), metric) if part)[:100]


def _memory(values: dict) -> Iterator[Quantity]:
    peak = values.get("peak_allocated_bytes")
    if _number(peak):
        yield _measured("peak_memory_mb", peak / MEGABYTE, "peak_allocated_bytes")


def _profile(values: dict) -> Iterator[Quantity]:
    """Shares of the step time over all steps and ranks of a step trace; fractions."""
    found = step_parts(values)
    stage = sum(parts["stage"] for parts in found)
    if stage > 0:
        for name, part in STEP_SHARES.items():
            yield _measured(name, sum(parts[part] for parts in found) / stage, "steps")


def step_parts(values: dict) -> list[dict]:
    """Computing, uncovered communication, free and stage (µs) of each step or rank of a trace.

    In the table of a cluster the rows of ranks count; the others repeat them by stage.
    """
    if values.get("form") not in STEP_FORMS:
        return []
    rows = [row for row in values.get("steps", []) if row.get("type", "rank") == "rank"]
    return [{"label": str(row.get("index") or row.get("step") or number),
             "is_rank": "index" in row,
             **{name: row.get(column) or 0.0 for name, column in STEP_COLUMNS.items()}}
            for number, row in enumerate(rows, 1)]


def _comparison(values: dict) -> Iterator[Quantity]:
    """The lowest cosine. NaN in the comparison is no cosine: it fails."""
    lowest = values.get("min_cosine")
    if _number(lowest):
        yield _measured("min_cosine", float("nan") if values.get("nonfinite") else lowest,
                        "min_cosine")


def _report(values: dict) -> Iterator[Quantity]:
    if values.get("form") == "human_evaluation" and (share := not_worse(values)) is not None:
        yield _measured("human_not_worse", share, "ratings")
    if values.get("form") == "online":
        yield from _comparison(values)
    if values.get("form") == "memory_tiers":
        yield from _memory_tiers(values)
    if values.get("form") == "checkpoints":
        yield from _checkpoints(values)


def _memory_tiers(values: dict) -> Iterator[Quantity]:
    """Share of the accesses that high-bandwidth memory served; a fraction of two counters."""
    hits, accesses = values.get("hbm_hits"), values.get("accesses")
    if _number(hits) and _number(accesses) and 0 <= hits <= accesses and accesses:
        yield _measured("hbm_hit_rate", hits / accesses, "hbm_hits")


def _checkpoints(values: dict) -> Iterator[Quantity]:
    """Weight files that are not empty, and the share of tensors that training changed (M04).

    Tensors that stand in one of the two steps only leave the share unmeasured.
    """
    files = [entry for entry in values.get("files") or [] if isinstance(entry, dict)]
    weights = sum(str(entry.get("name", "")).lower().endswith(WEIGHT_ENDINGS)
                  and bool(entry.get("size")) for entry in files)
    yield _measured("weight_files", float(weights), "files")
    if values.get("tensors") and not values.get("tensors_missing"):
        yield from _at(values, "changed_parameters", "changed_ratio")


def _measured(name: str, value: float | None, place: str) -> Quantity:
    return Quantity(name, value, BY_NAME[name].unit, place)


def _declared(kind: str, values: dict) -> Iterator[Quantity]:
    """What the rows say of a kind of reading: of each quantity the first path with a number."""
    for row in QUANTITIES:
        paths = row.paths.get(kind) or row.paths.get(f"{kind}/{values.get('form')}", ())
        found = (q for path in paths for q in _at(values, row.name, path))
        yield from [q for q in [next(found, None)] if q]


def _at(values: dict, name: str, path: str) -> Iterator[Quantity]:
    """The number at a dotted path, if there is one."""
    found = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    if _number(found):
        yield _measured(name, float(found), path)


def _number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
