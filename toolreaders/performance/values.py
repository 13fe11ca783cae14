"""What readings of profiles and memory hold, by kind."""

from __future__ import annotations

from typing import TypedDict

from toolreaders.value_types import Number, Record


class Memory(TypedDict, total=False):
    """Device memory that a run used, or lacked."""

    allocated_bytes: int
    before_mb: Number
    capacity_bytes: int
    devices: list[Record]
    form: str
    free_bytes: int | None
    ooms: int
    operators: dict[str, int]
    pairs: list[Record]
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    peak_used_mb: Number
    requested_bytes: int
    reserved_bytes: int | None
    retries: int
    tensor_bytes: int
    tensors: list[Record]
    without_shape: int


class Profile(TypedDict, total=False):
    """Times of steps, operators and communication."""

    activities: list[str]
    components: int
    count: Number
    device_self_us: Number
    environment: dict[str, str]
    environment_names: list[str]
    errors: int
    events: int
    form: str
    groups: list[Record]
    headings: list[str]
    iterations: int
    kernels: int
    largest_component: str
    largest_gap_us: Number
    level: str
    links: dict[str, int]
    longest: str
    max_allocated_mb: Number
    max_size_kb: Number
    max_us: Number
    mean_us: Number
    metrics: list[Record]
    peaks: dict[str, Record]
    phases: dict[str, int]
    problems: list[str]
    profile_memory: bool
    rank: int
    rows: int | list[Record]
    schedule: dict[str, int]
    shares: dict[str, float]
    sheets: dict[str, list[int]]
    slowest_computing_rank: str
    steps: list[Record] | dict[str, Record]
    timelines: list[Record]
    timelines_left_out: int
    top: list[Record]
    total_us: Number


class Scaling(TypedDict, total=False):
    """Throughput by number of cards."""

    efficiencies: list[Record]
    npu_vs_gpu: list[Record]
    rows: list[Record]


KINDS = {
    "memory": Memory,
    "profile": Profile,
    "scaling": Scaling,
}
