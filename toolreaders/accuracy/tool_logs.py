"""What msprobe, msaccucmp, msmodelslim and convert_tf2npu print beside their results.

Exit codes and words lie: msprobe prints ``[ERROR] … CANN environment`` on successful runs, and
nothing found is a log without a result. Only an end line or a traceback decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.masking import mask_text
from toolreaders.source import ReadingWarning

HARMLESS = re.compile(r"verify that the CANN environment is properly configured")
LEVEL = re.compile(r"\[(?P<level>ERROR|CRITICAL)\]|- (?P<word>ERROR|CRITICAL) -")
TRACEBACK = re.compile(r"^\s*Traceback \(most recent call last\)")
EXCEPTION = re.compile(r"^(?P<name>[\w.]*(?:Error|Exception|Interrupt))(?:: *(?P<text>.*))?$")
RESULT = re.compile(
    r"(?:result(?: csv)?(?: file path)?|result save(?:d)?|is saved|has been parsed)\b.*?"
    r"(?P<path>/[^\s'\"]+|[\w./\-]+\.(?:csv|xlsx|json|db|txt))"
)
LISTED = 100


@dataclass(frozen=True)
class Voice:
    """How one tool's log is recognised and how it says that it is done."""

    tool: str
    own: re.Pattern[str]
    done: re.Pattern[str]
    confidence: int


VOICES = (
    Voice(
        "msaccucmp",
        re.compile(r"^\d{4}-\d\d-\d\d [\d:]+ \(\d+\) - \[(?:INFO|WARNING|ERROR)\]", re.MULTILINE),
        re.compile(r"The command was completed|\[Overflow\] Find \[\d+\]|compare.*?finish"),
        40,
    ),
    Voice(
        "msmodelslim",
        re.compile(
            r" - msmodelslim[\w.]* - (?:INFO|WARNING|ERROR) - |site-packages/msmodelslim/"
            r"|^(?!.*\b(?:from|import|patch)\b).*msmodelslim\.utils",
            re.MULTILINE,
        ),
        re.compile(r"=+SUCCESS=+"),
        40,
    ),
    Voice(
        "msprobe",
        re.compile(
            r"^\d{4}-\d\d-\d\d [\d:]+ \(\d+\) \[(?:INFO|WARNING|ERROR)\]|>>>>>   MindStudio   <<<<<"
            r"|site-packages/msprobe/|API/Module \w+ Progress: ",
            re.MULTILINE,
        ),
        re.compile(
            r"ends successfully|Successfully completed|result save to|result is saved"
            r"|[Ff]inished|successfully|task completed|end(?:s|ed)? success"
        ),
        30,
    ),
    Voice(
        "convert_tf2npu",
        re.compile(r"/convert_tf2npu/\w+\.py:\d+: \w*Warning|/convert_tf2npu/\w+\.py\", line"),
        re.compile(r"Finish conver, output file"),
        25,
    ),
)


def _voice(content: str) -> Voice | None:
    return next((voice for voice in VOICES if voice.own.search(content)), None)


@register
class ToolLogReader(Reader):
    """stdout or stderr of a tool whose results are in other files."""

    name = "tool_log"
    kind = "tool_log"

    def recognises(self, sample: Sample) -> int:
        voice = _voice(sample.text)
        return voice.confidence if voice else 0

    def read(self, source: Source) -> Reading:
        lines = [(number, line.rstrip()) for number, line in source.lines()]
        content = "\n".join(line for _number, line in lines)
        voice = _voice(content) or VOICES[2]
        errors = [(number, line) for number, line in lines
                  if LEVEL.search(line) and not HARMLESS.search(line)]  # fmt: skip
        traceback = next((number for number, line in lines if TRACEBACK.match(line)), None)
        exception = _exception(lines) if traceback is not None else None
        done = bool(voice.done.search(content))
        values = {
            "form": voice.tool,
            "succeeded": False if traceback is not None else (True if done else None),
            "errors": [mask_text(line)[:500] for _number, line in errors][:LISTED],
            "exception": exception,
            "results": _results(lines),
            "lines": len(lines),
        }
        warnings = []
        if traceback is not None:
            message = f"The tool ended with {exception or 'a Python traceback'}."
            warnings.append(ReadingWarning("traceback", message, traceback))
        elif errors:
            message = f"The log holds {len(errors)} errors, first: {mask_text(errors[0][1])[:200]}"
            warnings.append(ReadingWarning("errors_logged", message, errors[0][0]))
        return self.reading(values, warnings=warnings, tool=voice.tool)


def _exception(lines: list[tuple[int, str]]) -> str | None:
    found: Any = [hit for _number, line in lines if (hit := EXCEPTION.match(line.strip()))]
    return mask_text(found[-1][0])[:500] if found else None


def _results(lines: list[tuple[int, str]]) -> list[str]:
    paths = [hit["path"].rstrip(".") for _number, line in lines if (hit := RESULT.search(line))]
    return list(dict.fromkeys(paths))[:LISTED]
