"""What a scan found, with totals and effort."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from toolreaders.scan.check_catalogue import CHECKS, PER_PROJECT, SUPPRESSED_BY_ADAPTOR
from toolreaders.scan.settings import merged

MAX_FINDINGS = 5_000
MAX_SNIPPET = 200


@dataclass(frozen=True, order=True)
class Finding:
    """One place. `line` is 1-based; `note` is a name, such as the library's replacement."""

    file: str
    line: int
    check: str
    snippet: str = ""
    note: str = ""

    @property
    def severity(self) -> str:
        return CHECKS[self.check].severity

    @property
    def rule(self) -> str:
        return CHECKS[self.check].rule

    def as_json(self) -> dict:
        return {"file": self.file, "line": self.line, "check": self.check, "rule": self.rule,
                "severity": self.severity, "snippet": self.snippet, "note": self.note}


@dataclass
class Report:
    """All of one scan.

    skipped: (name, why) of members that were not opened; unparsed: Python files read by text
    rules only, because they do not parse; suppressed: findings left out for the adaptor.
    """

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    lines: int = 0
    unparsed: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    suppressed: int = 0
    settings: dict[str, dict] = field(default_factory=dict)  # file → fact → (value, line)
    json_errors: list[dict] = field(default_factory=list)
    is_cut: bool = False

    def close(self) -> "Report":
        """Order, leave out what the adaptor patches, and bound."""
        found = sorted(set(self.findings))
        if any(finding.check == "adaptor" for finding in found):
            remaining = [f for f in found if f.check not in SUPPRESSED_BY_ADAPTOR]
            self.suppressed, found = len(found) - len(remaining), remaining
        self.is_cut = self.is_cut or len(found) > MAX_FINDINGS
        self.findings = found[:MAX_FINDINGS]
        return self

    def effort(self) -> list[dict]:
        """Per check: places, files, person-days and the unit they are counted by."""
        places = Counter(f.check for f in self.findings)
        files = {code: len({f.file for f in self.findings if f.check == code}) for code in places}
        rows = []
        for code, count in places.items():
            check = CHECKS[code]
            units = 1 if check.per == PER_PROJECT else files[code]
            rows.append({"check": code, "severity": check.severity, "places": count,
                         "files": files[code], "days_each": check.days, "per": check.per,
                         "days": check.days * units})
        return sorted(rows, key=lambda row: (-row["days"], row["check"]))

    def as_json(self) -> dict:
        effort = self.effort()
        by_severity = Counter(f.severity for f in self.findings)
        return {
            "files": self.files, "lines": self.lines,
            "by_severity": {s: by_severity.get(s, 0) for s in ("block", "warn", "info")},
            "person_days": str(sum((row["days"] for row in effort), Decimal(0))),
            "effort": [{**row, "days": str(row["days"]), "days_each": str(row["days_each"])}
                       for row in effort],
            "findings": [finding.as_json() for finding in self.findings],
            "settings": merged(self.settings), "json_errors": self.json_errors,
            "unparsed": self.unparsed[:200], "suppressed": self.suppressed,
            "skipped": [{"name": n, "why": w} for n, w in self.skipped[:200]],
            "skipped_count": len(self.skipped), "is_cut": self.is_cut,
        }
