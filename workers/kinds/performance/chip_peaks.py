"""Peaks of chips as their makers or well-known tools state them; what is not here is not guessed.

Dense matrix arithmetic in FP16 or BF16, in 10^12 operations per second; memory in GB (10^9) per
second. Makers' figures of one name differ by variant, so that each row names its source; another
peak can be given with a job, with its source.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ChipPeak:
    """What a chip can do at most. None: no source at hand."""

    tflops: float
    gb_per_second: float | None
    source: str


VERL = "verl, utils/flops_counter.py @ 02cf355 (device table)"
PEAKS: dict[str, ChipPeak] = {
    "Ascend 910B": ChipPeak(354, None, VERL),
    "Ascend 910 (first generation)": ChipPeak(
        256, 1200, "Huawei, launch of the Ascend 910 (2019-08-23); Hot Chips 31, DaVinci"),
    "NVIDIA V100 SXM2 32GB": ChipPeak(125, 900, "NVIDIA V100 data sheet (2020-01)"),
    "NVIDIA A100 SXM 40GB": ChipPeak(312, 1555, "NVIDIA A100 data sheet (2022-06)"),
    "NVIDIA A100 SXM 80GB": ChipPeak(312, 2039, "NVIDIA A100 data sheet (2022-06)"),
    "NVIDIA A800": ChipPeak(312, None, VERL),
    "NVIDIA H100 SXM": ChipPeak(989, 3350, "NVIDIA H100 data sheet (dense)"),
    "NVIDIA H800": ChipPeak(989, None, VERL),
    "NVIDIA H20": ChipPeak(148, None, VERL),
}
