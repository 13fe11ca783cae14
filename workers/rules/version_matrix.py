"""Published pairs of versions, as data with their source (DOMAIN R-ENV-12, R-ENV-18)."""

import csv
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "data"
SOURCES = {
    "torch_npu": "Ascend/pytorch, COMPATIBILITY.en.md, b48e64812a56",
    "torch_python": "Ascend/pytorch, COMPATIBILITY.en.md, b48e64812a56",
    "mindspeed": "Ascend/MindSpeed, README.md, 028de58ca629 and 005894b8e999; "
                 "Ascend/MindSpeed-LLM, docs/zh/release_notes_llm.md, 010c7469ec96",
    "mindformers": "mindspore-lab/mindformers, VERSION_MAP.json, fd4deebc1606",
    "options": "sources, packages and guides of the tools: per row",
}
NUMBERS = re.compile(r"\d+")
STAGES = {"dev": 0, "alpha": 1, "beta": 2, "rc": 3, "": 4, "post": 5}


@cache
def table(name: str) -> list[dict[str, str]]:
    """Rows of one published table; `name` is a key of SOURCES."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def version(text: str) -> tuple:
    """A sortable version; dev < alpha < beta < RC < release < post: 8.0.RC1 < 8.0.0 < 8.1.RC1.

    Raises ValueError where there is no number at the start.
    """
    found = re.match(r"\D{0,8}?(\d+(?:\.\d+)*)[.-]?(dev|alpha|beta|rc|post)?\.?(\d*)",
                     str(text).strip(), re.IGNORECASE)
    if not found:
        raise ValueError(f"{text!r} is no version")
    numbers = [int(n) for n in found[1].split(".")]
    numbers = (*numbers, 0, 0, 0, 0)[:4]
    return (*numbers, STAGES[(found[2] or "").lower()], int(found[3] or 0))


def release(text: str) -> tuple[int, ...]:
    """Only the numbers of a version, without local part: 2.1.0.post4+cpu → (2, 1, 0)."""
    return version(re.split(r"[.+]?(?:post|dev|rc)|\+", str(text), maxsplit=1)[0])[:3]


def torch_pair(torch: str, torch_npu: str) -> bool | None:
    """Whether the pair is published; None where torch_npu is newer or other than the table."""
    if release(torch) == release(torch_npu):  # also where the table is mistyped: 1.5.0.post3
        rows = [row for row in table("torch_npu") if row["torch_npu"] == torch_npu.strip()]
        return True if rows else None
    return False


def plugin_of(torch_npu: str) -> str | None:
    """Release of the Ascend extension a torch_npu belongs to: 2.1.0.post12 → 7.0.0 (X11).

    None where the table does not know it: of unknown ones nothing is said.
    """
    return next((row["branch"].split("-", 1)[1] for row in table("torch_npu")
                 if row["torch_npu"] == torch_npu.strip() and "-" in row["branch"]), None)


def cann_for(torch_npu: str) -> set[str]:
    """CANN releases published for a torch_npu release; empty if it is not in the table."""
    return {row["cann"].removeprefix("CANN ") for row in table("torch_npu")
            if row["torch_npu"] == torch_npu.strip()}


def pythons_for(torch: str) -> set[str]:
    """Python releases a PyTorch has packages for; empty if it is not in the table."""
    return {python for row in table("torch_python") if release(row["pytorch"]) == release(torch)
            for python in row["python"].split()}


def mindspeed_row(mindspeed: str) -> dict[str, str]:
    """What is published with a MindSpeed branch; empty if it is not in the table."""
    return next((row for row in table("mindspeed") if row["mindspeed"] == mindspeed.strip()), {})


def megatron_for(mindspeed: str) -> str | None:
    """The Megatron branch that a MindSpeed branch belongs to, or None.

    Branches that are newer than the table name theirs: …_core_r0.12.1.
    """
    named = re.search(r"_(core_[rv][\d.]+)$", mindspeed.strip())
    return mindspeed_row(mindspeed).get("megatron") or (named[1] if named else None)


def cann_for_mindspore(mindspore: str) -> set[str]:
    """CANN releases published for a MindSpore release; empty if it is not in the table."""
    return {row["cann"] for row in table("mindformers") if row["mindspore"] == mindspore.strip()}
