"""What readings of machines and settings hold, by kind."""

from __future__ import annotations

from typing import TypedDict

from toolreaders.value_types import Number, Record


class CompatibilityTable(TypedDict, total=False):
    """Which versions go together, as a vendor's table prints it."""

    by_status: dict[str, int] | None
    columns: list[str]
    row_count: int
    rows: list[Record]


class DumpConfig(TypedDict, total=False):
    """What PrecisionDebugger is told to dump; `apis` of the form that tutorials print."""

    apis: list[str]
    level: str
    lines: dict[str, int]
    path: str
    ranks: list[int]
    steps: list[int]
    task: str | None


class HcclTest(TypedDict, total=False):
    """Bandwidth and checks of a collective by message size, of NPUs or of GPUs."""

    asked_bytes: list[int] | None
    average_bus_bandwidth_gb_s: Number
    bandwidth_gb_s: Number
    failed: int
    iterations: int | None
    largest_bytes: int
    operation: str
    rows: list[Record]
    unchecked: int


class HccnTool(TypedDict, total=False):
    """The network of the cards, one entry per check that was run."""

    checks: list[Record]
    healthy: bool | None


class HostProbe(TypedDict, total=False):
    """The machine: system, processor, memory, disks."""

    arch: str | None
    clock: int | None
    cpu_model: str | None
    cpus: int | None
    disks: list[Record]
    gcc: str | None
    lines: dict[str, int]
    memory_available_mb: int | None
    memory_mb: int | None
    numa_nodes: int | None
    os: str | None
    os_id: str | None
    os_name: str | None
    os_version: str | None
    product: str | None
    python: str | None


class ModelConfig(TypedDict, total=False):
    """Sizes and types of a model, from the config.json beside its weights."""

    architectures: list[str]
    dtype: str | None
    heads: int | None
    hidden_size: int | None
    layers: int | None
    lines: dict[str, int]
    model_type: str
    quantize: str | None
    vocabulary: int | None


class NodeReport(TypedDict, total=False):
    """What a script of a job kind reports; its further keys are the script's own."""

    form: str


class NpuSmi(TypedDict, total=False):
    """Cards as npu-smi prints them: health, memory, processes, links."""

    all_healthy: bool | None
    blocks: list[Record]
    chip_count: int
    chips: list[Record]
    cpu_affinity: dict[str, str]
    driver_version: str | None
    error: Record | None
    error_count: int | None
    form: str
    hbm_total_mb: int | None
    hbm_used_mb: int | None
    health: dict[str, int]
    idle_npus: list[int]
    items: Record
    lines: dict[str, int]
    links: dict[str, int]
    matrix: dict[str, list[str]]
    names: list[str]
    npu_count: int
    npu_ids: list[int]
    processes: list[Record]
    smi_version: str | None


class NvidiaSmi(TypedDict, total=False):
    """Cards as nvidia-smi prints them: memory, processes, links."""

    cuda_version: str | None
    driver_version: str | None
    error: dict[str, str]
    form: str
    gpu_count: int
    gpus: list[Record]
    links: dict[str, int]
    matrix: dict[str, list[str]]
    processes: list[Record]


class ParallelStrategy(TypedDict, total=False):
    """Parallel sizes that a launch script reads."""

    cp: int
    dp: int
    lines: dict[str, int]
    pp: int
    processes: int
    tensor_parallel_mode: str | None
    tp: int


class ServingConfig(TypedDict, total=False):
    """A service of MindIE: models, parallel sizes, cards, limits; secrets are masked."""

    devices: list[list[int]] | None
    https: bool | None
    lines: dict[str, int | None]
    models: list[Record]
    most_tokens: int | None
    parallel: dict[str, int]
    schedule: Record
    world_size: int | None


class TorchCheck(TypedDict, total=False):
    """Whether torch_npu can be imported and sees a card, and why not."""

    available: bool | None
    cause: str | None
    error: str | None
    line: int | None
    missing: str | None
    torch: str | None
    torch_npu: str | None


class VersionInfo(TypedDict, total=False):
    """Versions of driver, firmware, toolkit or Python packages."""

    component: str | None
    consistent: bool
    devices: list[int]
    driver_path: str
    files: list[Record]
    inner_version: str | None
    installed: list[str]
    items: dict[str, str]
    lines: dict[str, int]
    os: str | None
    packages: dict[str, str]
    python: str | None
    rows: list[Record]
    running: list[str]
    version: str | None


KINDS = {
    "compatibility_table": CompatibilityTable,
    "dump_config": DumpConfig,
    "hccl_test": HcclTest,
    "hccn_tool": HccnTool,
    "host_probe": HostProbe,
    "model_config": ModelConfig,
    "node_report": NodeReport,
    "npu_smi": NpuSmi,
    "nvidia_smi": NvidiaSmi,
    "parallel_strategy": ParallelStrategy,
    "serving_config": ServingConfig,
    "torch_check": TorchCheck,
    "version_info": VersionInfo,
}
