"""Facts of a node: chips, host, packages, variables (DOMAIN 5.1)."""

from collections.abc import Iterator

from workers.rules.facts.base import Observed, Seen, observes
from workers.rules.facts.variables import GIVEN, of_environment
from workers.rules.version_matrix import plugin_of

# Facts of Python packages whose release decides which options they know (R-ENV-23).
TOOLS = {"msprobe": "mindstudio-probe", "vllm": "vllm", "vllm_ascend": "vllm-ascend",
         "mindie": "mindie-llm", "mindformers": "mindformers", "msmodelslim": "msmodelslim"}
TENSORFLOW = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")
INSTALLED = ("toolkit", "kernels", "nnal")


@observes("npu_smi", "chips chip hdk")
def chips(seen: Seen) -> Iterator[Observed]:
    """State and name of the chips; the driver's release stands for the HDK's (R-ENV-19)."""
    found = seen.values.get("chips") or []
    if found:
        line = found[0].get("line")
        yield Observed("chips", [{"npu": chip.get("npu"), "health": chip.get("health"),
                                  "line": chip.get("line")} for chip in found], line)
        yield Observed("chip", found[0].get("name"), line)
    yield Observed("hdk", seen.values.get("driver_version"), seen.line("driver_version"))


@observes("host_probe", "arch os python gcc cpus numa_nodes disks product")
def host(seen: Seen) -> Iterator[Observed]:
    values = seen.values
    for name in ("arch", "python", "gcc", "cpus", "numa_nodes", "disks", "product"):
        yield Observed(name, values.get(name) or None, seen.line(name))
    yield Observed("os", values.get("os_name") or values.get("os"), seen.line("os"))


@observes("torch_check", "torch torch_npu torch_npu_plugin uses_single_operators")
def torch(seen: Seen) -> Iterator[Observed]:
    yield from _torch(seen.values.get("torch"), seen.values.get("torch_npu"),
                      seen.values.get("line"), seen.values.get("line"))


def _torch(torch, torch_npu, line, npu_line) -> Iterator[Observed]:
    """torch_npu calls operators one by one, so that the kernels package is needed (R-ENV-07)."""
    yield Observed("torch", torch, line)
    if torch_npu:
        yield Observed("torch_npu", torch_npu, npu_line)
        yield Observed("torch_npu_plugin", plugin_of(torch_npu), npu_line)
        yield Observed("uses_single_operators", True, npu_line)


@observes("version_info", "cann hdk torch torch_npu torch_npu_plugin uses_single_operators "
                          "mindspore msprobe vllm vllm_ascend mindie mindformers msmodelslim "
                          "tensorflow tensorflow_package is_compiling")
def versions(seen: Seen) -> Iterator[Observed]:
    """Version files of CANN and driver, and lists of Python packages."""
    line = seen.line("version") or seen.line("Version") or seen.line("toolkit_running_version")
    for part in seen.values.get("files") or [{**seen.values, "line": line}]:
        component = str(part.get("component") or "").lower()
        if component == "cann" or "toolkit" in component:
            yield Observed("cann", part.get("version"), part["line"])
        elif component == "driver":
            yield Observed("hdk", part.get("version"), part["line"])
    yield from _packages(seen)


def _packages(seen: Seen) -> Iterator[Observed]:
    found = seen.values.get("packages") or {}
    yield from _torch(found.get("torch"), found.get("torch-npu"), seen.line("torch"),
                      seen.line("torch-npu"))
    yield Observed("mindspore", found.get("mindspore"), seen.line("mindspore"))
    for fact, package in TOOLS.items():
        yield Observed(fact, found.get(package), seen.line(package))
    for name in TENSORFLOW:
        if name in found:
            yield Observed("tensorflow", found[name], seen.line(name))
            yield Observed("tensorflow_package", name, seen.line(name))
            # the index has none for aarch64: whoever has it there built it (DOMAIN 4.7)
            yield Observed("is_compiling", True, seen.line(name))
            return


@observes("node_report", f"install_order has_kernels is_probed tool_path {GIVEN}")
def software(seen: Seen) -> Iterator[Observed]:
    """Report of `env.software`: which parts of CANN lie there since when, and the variables.

    Times and folders are signs, no proof: an upgrade looks like another order (`is_probed`).
    """
    values = seen.values
    if values.get("form") != "software":
        return
    parts = [part for part in values.get("parts") or [] if part.get("name") in INSTALLED]
    if parts:
        yield Observed("install_order", [part["name"] for part in sorted(
            parts, key=lambda part: (part["installed_at"], INSTALLED.index(part["name"])))])
    yield Observed("has_kernels", values.get("has_kernels"))
    yield Observed("is_probed", True)
    yield Observed("tool_path", values.get("tool_path") or None)
    yield from of_environment(values.get("environment") or {})


@observes("profile", f"{GIVEN} profiler")
def profile(seen: Seen) -> Iterator[Observed]:
    """Variables and schedule that torch_npu's profiler recorded with its data (R-CFG-19)."""
    if seen.values.get("form") == "profiler_metadata":
        recorded = seen.values.get("environment") or {}
        yield from (found for found in of_environment(recorded) if found.name in recorded)
    if seen.values.get("form") == "profiler_info":
        yield Observed("profiler", seen.values.get("schedule") or None)
