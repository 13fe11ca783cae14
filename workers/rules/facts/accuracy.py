"""Facts of comparisons of configurations and operators, and of dumps (DOMAIN 5.3)."""

import re
from collections.abc import Iterator

from workers.rules.accuracy import BY_NATURE
from workers.rules.facts.base import Observed, Seen, observes
from workers.rules.facts.settings import GIVEN as SETTINGS
from workers.rules.facts.settings import of_settings
from workers.rules.facts.variables import GIVEN as VARIABLES
from workers.rules.facts.variables import of_environment

INPUTS = ("dataset", "weights")
STEP, RANK = re.compile(r"(?:^|/)step(\d+)/"), re.compile(r"(?:^|/)rank(\d+)/")
PASSED = ("pass", "true")


@observes("config_check", f"config_check is_config_check_passed input_differences {VARIABLES} "
                          f"{SETTINGS}")
def configurations(seen: Seen) -> Iterator[Observed]:
    if seen.values.get("form") == "pack":
        yield from _pack(seen)
        return
    summary = seen.values.get("summary") or {}
    wrong: dict[str, list[str]] = {}
    for item in seen.values.get("differences") or []:
        if item.get("level") == "error":
            wrong.setdefault(item["sheet"], []).append(str(item["item"]))
    sheets = {name: {"passed": verdict in PASSED, "line": seen.line(name),
                     "items": wrong.get(name, [])} for name, verdict in summary.items()}
    if not sheets:
        return
    yield Observed("config_check", sheets)
    yield Observed("is_config_check_passed", all(
        sheet["passed"] for name, sheet in sheets.items() if name not in BY_NATURE))
    if any(name in summary for name in INPUTS):
        yield Observed("input_differences", [
            f"{item.get('sheet')}: {item.get('item')}"
            for item in seen.values.get("differences") or [] if item.get("sheet") in INPUTS])


def _pack(seen: Seen) -> Iterator[Observed]:
    """What ConfigChecker recorded in the run. A pack of the GPU side tells nothing of a node."""
    environment = seen.values.get("environment") or {}
    if any(name.startswith(("ASCEND", "HCCL", "NPU_")) for name in environment):
        yield from of_environment(environment)
    for given in (seen.values.get("hyperparameters") or {}).values():
        if isinstance(given, dict):
            yield from of_settings(given)


@observes("accuracy_dump", "dump_steps dump_ranks")
def dump(seen: Seen) -> Iterator[Observed]:
    """Steps and ranks that were dumped, from the folders msprobe makes."""
    if seen.values.get("form") == "dump":
        yield Observed("dump_steps", _numbers(STEP, seen.name) or None)
        yield Observed("dump_ranks", _numbers(RANK, seen.name))


def _numbers(pattern: re.Pattern[str], name: str) -> list[int]:
    return [int(number) for number in pattern.findall(name)]


@observes("dump_config", "dump_steps dump_ranks config_ranks")
def dump_config(seen: Seen) -> Iterator[Observed]:
    """What PrecisionDebugger is told to dump; an empty list means every step or rank."""
    yield Observed("dump_steps", seen.values["steps"], seen.line("step"))
    yield Observed("dump_ranks", seen.values["ranks"], seen.line("rank"))
    yield Observed("config_ranks", seen.values["ranks"], seen.line("rank"))


@observes("accuracy_compare", "dump_baseline dump_candidate")
def compared(seen: Seen) -> Iterator[Observed]:
    """The data type most tensors have on either side."""
    dtypes = seen.values.get("dtypes") or {}
    line = seen.values.get("first_dtype_mismatch_row")
    for name, side in (("dump_baseline", "bench"), ("dump_candidate", "npu")):
        floats = {dtype: n for dtype, n in (dtypes.get(side) or {}).items()
                  if "float" in dtype.lower() and not dtype.startswith("<")}
        if floats:
            yield Observed(name, {"dtype": max(floats, key=floats.__getitem__)}, line)
