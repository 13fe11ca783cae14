"""Which release of its tool an option needs: `data/options.csv`, each row with its source.

`since` is the first release that has the option, `until` the first one that has it no longer; 0
there says that no release has it. Options that every paired release has stand in no row.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from functools import cache
from typing import Any

from workers.rules.version_matrix import megatron_for, table, version

# The program of a command, by the end of its path, and the tools whose options it takes.
PROGRAMS = {"pretrain_*.py": ("megatron", "mindspeed"), "atc": ("atc",), "msprobe": ("msprobe",),
            "vllm": ("vllm",)}
NAMES = {"megatron": "Megatron-LM", "mindspeed": "MindSpeed", "atc": "ATC", "msprobe": "msprobe",
         "vllm": "vLLM"}
RELEASED_WITH = {"atc": "cann"}  # the fact that holds a tool's release, where it is not its own


@cache
def rows_of(tool: str) -> dict[str, dict[str, str]]:
    """The table's rows of one tool, by option."""
    return {row["option"]: row for row in table("options") if row["tool"] == tool}


def used_by(argv: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Options of a command that stand in the table: tool → {"program", "options"}.

    A command whose words are given to a shell's script is looked at with that script's words.
    """
    words = [word.strip("'\",;()[]{}") for text in argv for word in text.split()]
    found: dict[str, dict[str, Any]] = {}
    for pattern, tools in PROGRAMS.items():
        at = next((n for n, w in enumerate(words) if fnmatch(w.rsplit("/", 1)[-1], pattern)), None)
        if at is None:
            continue
        named = {word.split("=")[0] for word in words[at + 1:]}
        for tool in tools:
            if options := sorted(named & set(rows_of(tool))):
                found[tool] = {"program": words[at], "options": options}
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
    return bool(row["since"] and at < version(row["since"])) or bool(
        row["until"] and at >= version(row["until"]))


def needed(row: Mapping[str, str]) -> str:
    """For people: --name (≥ 0.12.0), --name (< 26.0.0), --name (–) for one of no release."""
    bounds = [f"≥ {row['since']}"] * bool(row["since"])
    bounds += [f"< {row['until']}"] * (row["until"] not in ("", "0"))
    return f"{row['option']} ({', '.join(bounds) or '–'})"
