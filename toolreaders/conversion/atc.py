"""ATC and AMCT: what a model conversion printed (hicann/ge ``api/atc/main_impl.cc``).

``ATC run success`` may be followed by warnings, ``ATC run failed`` by no code at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.causes.cann_codes import ON_A_CARD
from toolreaders.masking import mask_text
from toolreaders.source import ReadError, ReadingWarning

# at the start of a line: instructions quote these words too
START = r"(?:^|\r) ?(?:\[[^\]\n]*\] ?)*ATC "
BANNER = re.compile(START + r"(?:start working now|run success|run failed)", re.MULTILINE)
SUCCESS = re.compile(START + r"run success", re.MULTILINE)
FAILED = re.compile(START + r"run failed", re.MULTILINE)
# "E10001: text", "EZ0501: text", "[PID: 7] 2025-01-02-… E19999: text", "…Error(E10003): text"
CODE = re.compile(
    r"^ ?(?:\[PID: *\d+\]\s*)?(?:\d{4}-\d\d-\d\d[-\d:. ]*\s+)?(?:[A-Za-z_]+\()?"
    r"(?P<code>[EW][A-Z]?\d{4,5})\)?(?:: *| +)(?P<text>.*)$"
)
# E3xxxx, EE, EH, EI, EJ, EK and EL are of a program that runs on the device
ALONE = re.compile(
    r"^(?:\[PID: *\d+\].*?)?\b(?!E3\d{4}|E[EHIJKL]\d)E[A-Z]?\d{4,5}\)?: ?\S", re.MULTILINE
)
PROGRAM = re.compile(r"Traceback \(most recent call last\)|\btorch_npu\b|\bRuntimeError: ")
AMCT = re.compile(
    r"^\[(?P<level>ERROR|WARNING)\] ?AMCT\([^)]*\):[\d\-:]*(?:\[[^\]]*\])?(?P<text>.*)"
)
OPS = re.compile(
    r"(?:Ops?|found for) \[(?P<name>[^\[\],]+)\]?, ?optype \[(?P<type>[^\]]+)\]", re.IGNORECASE
)
PARAMETER = re.compile(r"Value \[(?P<value>.*?)\] for parameter \[(?P<name>.*?)\]")
SECTION = re.compile(r"^\s+(?P<title>Possible Cause|Solution|TraceBack)\b[^:]*: *(?P<text>.*)")
STAGES = (
    ("arguments", r"E10\d{3}", r"atc_flags|main_impl"),
    ("parser", r"E1[126]\d{3}|E19010", r"\w*_parser|omg"),
    ("prepare", r"",
     r"graph_prepare|multi_batch_options|insert_aipp_op_util|infershape_pass|shape_refiner"),
    ("split", r"EZ300[23]", r"engine_place|\w*partition(?:er)?"),
    ("optimise", r"E2[0-2]\d{3}|E9\d{4}|EB\d{4}",
     r"fusion_manager|tbe_\w+|op_compiler\w*|fe_graph_optimizer|graph_optimize"),
    ("compile", r"",
     r"graph_builder|model_builder|\w*mem_assigner|stream_allocator|task_generator"),
)
"""Stage (parsing, preparing, splitting, optimising, compiling), codes that only it reports, source
files of its traces without their ending (hicann/ge compiler/, engines/nn_engine)."""
STAGE_OF_CODE = {stage: re.compile(codes) for stage, codes, _files in STAGES if codes}
STAGE_OF_FILE = {stage: re.compile(rf"\[FILE:(?:{files})\.cc\]") for stage, _codes, files in STAGES}
ELIDED = re.compile(r"^\s*(?:\.\.\.|……|…)\s*$")
LISTED = 100


@dataclass
class Conversion:
    """What the lines of one conversion say."""

    success: int | None = None
    failed: int | None = None
    banner: bool = False
    errors: list[dict[str, Any]] = field(default_factory=list)
    notices: list[dict[str, Any]] = field(default_factory=list)
    amct: list[str] = field(default_factory=list)
    ops: dict[str, str] = field(default_factory=dict)
    parameters: list[dict[str, str]] = field(default_factory=list)
    sections: dict[str, list[str]] = field(default_factory=dict)
    elided: int | None = None
    last_line: int = 0
    section: str | None = None

    def take(self, number: int, line: str) -> None:
        """Read one line."""
        self.last_line = number
        if ELIDED.match(line):
            self.elided = self.elided or (None if self._working else number)
        elif SUCCESS.search(line):
            self.success, self.banner = number, True
        elif FAILED.search(line):
            self.failed, self.banner = number, True
        elif BANNER.search(line):
            self.banner = True
        elif found := AMCT.match(line):
            if found["level"] == "ERROR":
                self.amct.append(mask_text(found["text"].strip()))
        elif found := CODE.match(line):
            self._code(number, found)
        else:
            self._detail(line)
        self._ops(line)

    def _code(self, number: int, found: re.Match[str]) -> None:
        item = {"code": found["code"], "text": mask_text(found["text"].strip()), "line": number}
        (self.notices if found["code"].startswith("W") else self.errors).append(item)
        self.section = None

    def _detail(self, line: str) -> None:
        if found := SECTION.match(line):
            self.section = found["title"]
            line = found["text"]
        elif not line.startswith((" ", "\t")):
            self.section = None
        if self.section and line.strip():
            self.sections.setdefault(self.section, []).append(mask_text(line.strip()))

    def _ops(self, line: str) -> None:
        for found in OPS.finditer(line):
            self.ops.setdefault(found["name"].strip(), found["type"].strip())
        for found in PARAMETER.finditer(line):
            self.parameters.append({"name": found["name"], "value": mask_text(found["value"])})

    @property
    def _working(self) -> bool:
        """Between its banner and its first result atc prints dots."""
        return self.banner and not (self.success or self.failed or self.errors)

    @property
    def succeeded(self) -> bool | None:
        """None when the log shows neither an end nor an error."""
        if self.failed or self.errors or self.amct:
            return False
        return True if self.success else None

    @property
    def cause(self) -> str | None:
        """The most telling sentence: a stated cause, the first error's text, AMCT's first error."""
        if causes := self.sections.get("Possible Cause"):
            return causes[0]
        texts = [item["text"] for item in self.errors if not _is_title(item["text"])]
        return next(iter([*texts, *self.amct]), None)


def stage_of(conversion: Conversion) -> str | None:
    """The stage in which it failed: that of the first code, else of the first line of its traces
    whose source file belongs to one; None where neither tells."""
    lines = [*(item["text"] for item in conversion.errors),
             *conversion.sections.get("TraceBack", [])]
    by_code = (stage for item in conversion.errors[:1] for stage, codes in STAGE_OF_CODE.items()
               if codes.fullmatch(item["code"]))
    by_file = (stage for line in lines for stage, files in STAGE_OF_FILE.items()
               if files.search(line))
    return next(by_code, None) or next(by_file, None)


def _is_title(text: str) -> bool:
    """E19999's first line only says “Inner Error!” or “Internal Error”."""
    return bool(re.fullmatch(r"(?:Inner|Internal) Error!?", text))


@register
class AtcReader(Reader):
    """stdout of atc, with or without its banner."""

    name = "atc"
    kind = "conversion_log"
    version = "2"
    tool = "atc"

    def recognises(self, sample: Sample) -> int:
        if BANNER.search(sample.text):
            return 90
        if re.search(r"^\[ERROR\] ?AMCT\(", sample.text, re.MULTILINE):
            return 85
        # an excerpt that begins with the code; long logs with a code inside are other things
        start = sample.text.lstrip()[:200]
        is_short = len(sample.data) < 65536 and not (
            PROGRAM.search(sample.text) or ON_A_CARD.search(sample.text))
        return 60 if is_short and ALONE.match(start) else 0

    def read(self, source: Source) -> Reading:
        conversion = Conversion()
        for number, line in source.lines():
            conversion.take(number, line)
        if not (conversion.banner or conversion.errors or conversion.amct):
            raise ReadError("damaged_file", "The log holds no line of ATC.")
        tool = "amct" if conversion.amct else "atc"
        return self.reading(_values(conversion), warnings=_warnings(conversion), tool=tool)


def _values(conversion: Conversion) -> dict[str, Any]:
    codes = [item["code"] for item in conversion.errors]
    return {
        "form": "atc",
        "succeeded": conversion.succeeded,
        "codes": list(dict.fromkeys(codes)),
        "first_code": codes[0] if codes else None,
        "stage": stage_of(conversion),
        "errors": conversion.errors[:LISTED],
        "cause": conversion.cause,
        "solution": " ".join(conversion.sections.get("Solution", [])) or None,
        "traceback": conversion.sections.get("TraceBack", [])[:LISTED],
        "ops": [{"name": name, "type": kind} for name, kind in conversion.ops.items()][:LISTED],
        "op_count": len(conversion.ops),
        "op_types": sorted(set(conversion.ops.values())),
        "parameters": conversion.parameters[:LISTED],
        "amct_errors": conversion.amct[:LISTED],
        "tool_warnings": conversion.notices[:LISTED],
        "tool_warning_count": len(conversion.notices),
    }


def _warnings(conversion: Conversion) -> list[ReadingWarning]:
    warnings = []
    if conversion.succeeded is None:
        message = "The log shows neither “ATC run success” nor a failure: it was cut or killed."
        warnings.append(ReadingWarning("run_not_finished", message, conversion.last_line))
    if conversion.success and (conversion.failed or conversion.errors):
        message = (
            "The log shows a success and errors: several runs, or a success not to be believed."
        )
        warnings.append(ReadingWarning("contradicting_verdicts", message, conversion.success))
    if conversion.succeeded is False and not conversion.errors:
        message = "The conversion failed without an error code."
        warnings.append(ReadingWarning("no_error_code", message, conversion.failed))
    if conversion.elided:
        message = "Lines are left out (“...”)."
        warnings.append(ReadingWarning("rows_elided", message, conversion.elided))
    if conversion.notices:
        first = conversion.notices[0]
        message = (
            f"{len(conversion.notices)} warnings, first {first['code']}: {first['text'][:200]}"
        )
        warnings.append(ReadingWarning("tool_warnings", message, first["line"]))
    return warnings
