"""What a failed job shows of itself, and whether a case's signature is found in it."""

import re
from dataclasses import dataclass
from functools import cached_property

from delivery.knowledge.models import SolvedCase
from workers.models import Job
from workers.models.job import TROUBLED_STATES
from workers.runtimes import software

# Codes of CANN: E, the module, four digits; numbers of its runtime: see workers.logs.ascend_codes.
CODE = re.compile(r"(?<![\w.])(E[1-9A-Z]\d{4}|[125]\d7\d{3})(?![\w.])")
# As CANN, torch_npu and ATC print it: aclnnMatmul, optype [Xxx], op_type: Xxx, op name=Xxx.
OPERATOR = re.compile(
    r"\b(aclnn[A-Z]\w+)|"
    r"(?i:\bop(?:erator)?[ _-]?(?:type|name)?|算子(?:名称|类型)?)\s*(?:is|[:=：])?\s*"
    r"[\[\"'(【]([A-Za-z]\w{2,})[\]\"')】]|"
    r"(?i:\bop[ _-]?(?:type|name))\s*(?:is|[:=：])\s*([A-Za-z]\w{2,})")
# Diagnoses that very many failures share: only code, operator or line tell them apart.
GENERIC = frozenset({
    "ascend_code", "ascend_reason", "ascend_return_code", "file_missing", "import_failed",
    "killed", "library_missing", "module_missing", "not_executable", "python_error",
    "script_missing", "time_limit", "tool_missing"})
ANYTHING = "*"
# Of a line, what differs from run to run: folders, addresses in memory, numbers but error codes.
VARYING = re.compile(
    r"(?<![\w:/.])~?(?:/[\w.+@%=~*-]+){2,}/?|0x[0-9a-fA-F]+|"
    r"(?<![\w.])(?![125]\d7\d{3}\b)\d+(?:[.:,-]\d+)*(?![\w.]*\w)")
LONGEST_PATTERN = 400
LEAST_LITERAL = 8  # characters that a pattern states by itself, lest it fit every log
MOST_PARTS = 12


@dataclass(frozen=True)
class Signature:
    """What a job shows: its diagnosis, error codes, operators, kind, versions and log."""

    diagnosis: str
    error_codes: tuple[str, ...]
    operators: tuple[str, ...]
    tool: str
    versions: dict[str, str]
    log: str

    @cached_property
    def lines(self) -> list[str]:
        return self.log.casefold().splitlines()

    @property
    def is_empty(self) -> bool:
        return not (self.diagnosis or self.error_codes or self.operators or self.log)


def of_job(job: Job) -> Signature | None:
    """The signature of a job that ended badly; None of any other.

    Read are the diagnosis and the part of the log around its cause, which the job's row keeps.
    """
    if job.state not in TROUBLED_STATES:
        return None
    diagnosis = job.results.get("diagnosis") or {}
    log = "\n".join(filter(None, (diagnosis.get("quote", ""), job.technical_cause)))
    named = (diagnosis.get("values") or {}).get("ascend", "")
    return Signature(
        diagnosis=diagnosis.get("cause", ""),
        error_codes=tuple(dict.fromkeys([*filter(None, [named]), *CODE.findall(log)])),
        operators=tuple(dict.fromkeys("".join(found) for found in OPERATOR.findall(log))),
        tool=job.kind, log=log,
        versions={name: str(value) for name, value in software.of_job(job).items() if value})


def as_pattern(line: str) -> str:
    """A line of a log as a pattern that fits the next run's."""
    text = " ".join(VARYING.sub(ANYTHING, line).split())
    return re.sub(r"\*[\s*]*\*", ANYTHING, text)[:LONGEST_PATTERN]


def parts_of(pattern: str) -> list[str]:
    """The literal parts of a log pattern, in order."""
    return [part.strip() for part in pattern.casefold().split(ANYTHING) if part.strip()]


def is_telling(pattern: str) -> bool:
    """Whether a pattern states enough to recognise a log by it."""
    return sum(map(len, parts_of(pattern))) >= LEAST_LITERAL


def holds_pattern(lines: list[str], pattern: str) -> bool:
    """Whether the parts of a pattern stand one after the other in one of the lines (folded)."""
    parts = parts_of(pattern)
    return any(_in_line(line, parts) for line in lines)


def _in_line(line: str, parts: list[str]) -> bool:
    place = 0
    for part in parts:
        found = line.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def matched_parts(case: SolvedCase, shown: Signature) -> list[str]:
    """The fields of the case's signature, all of which the job shows; empty where one is missing.

    Versions and a diagnosis beside an error code do not decide: a case of one release helps with
    the next, and a release may print another line before the code.
    """
    holds = {
        "error_code": case.error_code in shown.error_codes,
        "operator": case.operator.casefold() in (one.casefold() for one in shown.operators),
        "log_pattern": bool(case.log_pattern) and holds_pattern(shown.lines, case.log_pattern),
        "tool": case.tool == shown.tool,
        "diagnosis": case.diagnosis == shown.diagnosis or bool(case.error_code),
    }
    filled = [name for name in holds if getattr(case, name)]
    return filled if all(holds[name] for name in filled) and set(filled) != {"tool"} else []


def version_differences(case: SolvedCase, shown: Signature) -> list[tuple[str, str, str]]:
    """(item, the case's version, the job's) of what both name and differs."""
    return [(name, str(value), shown.versions[name])
            for name, value in sorted(case.versions.items())
            if name in shown.versions and shown.versions[name] != str(value)]
