"""Which release of its tool an option needs: `data/options.csv`, each row with its source.

`since` is the first release that has the option, `until` the first one that has it no longer; 0
there says that no release has it. `since` is “all” where every release of the source has it, and
“?” where no public source says which have it. Of the tools of PUBLISHED an option that every paired
release has stands in no row; of all others every option that a kind composes has a row.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from typing import Any

from workers.rules.version_matrix import megatron_for, table, version

# The program of a command, by the end of its path, and the tools whose options it takes.
PROGRAMS = {"pretrain_*.py": ("megatron", "mindspeed"), "atc": ("atc",), "aoe": ("aoe",),
            "msprof": ("msprof",), "msopgen": ("msopgen",), "msprobe": ("msprobe",),
            "amct_onnx": ("amct",), "msmodelslim": ("msmodelslim",),
            "vllm": ("vllm", "vllm_ascend"), "mindieservice_daemon": ("mindie",),
            "*run_pa*": ("mindie",), "benchmark": ("mindie",),
            "run_mindformer.py": ("mindformers",)}
NAMES = {"megatron": "Megatron-LM", "mindspeed": "MindSpeed", "atc": "ATC", "aoe": "AOE",
         "msprof": "msprof", "msopgen": "msOpGen", "msprobe": "msprobe", "amct": "AMCT",
         "msmodelslim": "msModelSlim", "vllm": "vLLM", "vllm_ascend": "vLLM Ascend",
         "mindie": "MindIE", "mindformers": "MindFormers"}
PUBLISHED = ("megatron", "mindspeed")
# The fact that holds a tool's release, where it is not its own.
RELEASED_WITH = dict.fromkeys(("atc", "aoe", "msprof", "msopgen", "amct"), "cann")
EVERY, UNKNOWN = "all", "?"


@cache
def rows_of(tool: str) -> dict[str, dict[str, str]]:
    """The table's rows of one tool, by option; a row may state the same of several."""
    return {option: {**row, "option": option} for row in table("options") if row["tool"] == tool
            for option in row["option"].split()}


def named_in(argv: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str, set[str]]]:
    """(tools, program, words that may be options) for every program of the table in a command.

    A command whose words are given to a shell's script is looked at with all of that script's
    words; of settings that are given as JSON the keys count.
    """
    texts = [[word.strip("'\",;()[]{}") for word in text.split()] for text in argv]
    keys = {key for text in argv for key in _keys(text)}
    for pattern, tools in PROGRAMS.items():
        for at, words in enumerate(texts):
            program = next((w for w in words if fnmatch(w.rsplit("/", 1)[-1], pattern)), None)
            if program is not None:
                named = {word.split("=")[0] for text in texts[at:] for word in text}
                yield tools, program, named | keys
                break


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return
    if isinstance(value, dict):
        yield from value
    for each in value.values() if isinstance(value, dict) else value if isinstance(
            value, list) else ():
        yield from _keys(each)


def used_by(argv: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Options of a command whose row states a bound or that nothing is known: tool → {"program",
    "options"}."""
    found: dict[str, dict[str, Any]] = {}
    for tools, program, named in named_in(argv):
        for tool in tools:
            rows = rows_of(tool)
            if options := sorted(name for name in named & set(rows)
                                 if rows[name]["since"] != EVERY or rows[name]["until"]):
                found[tool] = {"program": program, "options": options}
    return found


def release_of(tool: str, used: Mapping[str, Any], facts: Mapping[str, Any]) -> str | None:
    """The release that the node is known to have for this program; None where it is not known.

    Megatron's is that of the clone below which the program lies; MindSpeed's release names it too.
    """
    folder = facts.get("megatron_folder")
    if tool in ("megatron", "mindspeed") and folder and not used["program"].startswith(folder):
        return None
    found = facts.get(RELEASED_WITH.get(tool, tool))
    if found is None and tool == "megatron" and facts.get("mindspeed"):
        found = megatron_for(facts["mindspeed"])
    try:
        version(found or "")
    except ValueError:
        return None
    return found


def is_without(row: Mapping[str, str], release: str) -> bool:
    """Whether that release lacks the option of the row."""
    at = version(release)
    return bool(row["since"] not in ("", EVERY, UNKNOWN) and at < version(row["since"])) or bool(
        row["until"] and at >= version(row["until"]))


def needed(row: Mapping[str, str]) -> str:
    """For people: --name (≥ 0.12.0), --name (< 26.0.0), --name (–) for one of no release, --name
    (?) where no source says which have it."""
    if row["since"] == UNKNOWN:
        return f"{row['option']} (?)"
    bounds = [f"≥ {row['since']}"] * (row["since"] not in ("", EVERY))
    bounds += [f"< {row['until']}"] * (row["until"] not in ("", "0"))
    return f"{row['option']} ({', '.join(bounds) or '–'})"
