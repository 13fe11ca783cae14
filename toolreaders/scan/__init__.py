"""Source scan without an NPU: reads archives, folders and texts, executes nothing (DOMAIN 5.2)."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolreaders.decoding import UTF8_BOM, decode
from toolreaders.scan.check_catalogue import CHECKS
from toolreaders.scan.findings import MAX_FINDINGS, Finding, Report
from toolreaders.scan.patching import migration_patch
from toolreaders.scan.python_code import parse, scan_tree
from toolreaders.scan.settings import settings_of
from toolreaders.scan.source_files import Bounds, open_sources
from toolreaders.scan.text_rules import scan_lines

SCAN_VERSION = "5"
MAX_JSON_ERRORS, MAX_JSON_TEXT = 50, 4_000
MAX_COLLECTED = 4 * MAX_FINDINGS

__all__ = ["CHECKS", "SCAN_VERSION", "Finding", "Report", "patch_of", "scan_path", "scan_texts"]


def scan_path(path: str | Path) -> Report:
    """Scan a folder, a .zip, .tar or .tar.gz. Raises ReadError if it cannot be opened."""
    bounds = Bounds()
    report = _scan((name, _text(data)) for name, data in open_sources(Path(path), bounds))
    report.skipped += bounds.skipped
    return report


def scan_texts(texts: Mapping[str, str]) -> Report:
    """Scan texts by file name."""
    return _scan(texts.items())


def patch_of(path: str | Path) -> str:
    """The automatic-migration patch of a folder or archive; empty if nothing is to change."""
    return migration_patch(open_sources(Path(path), Bounds()))


def _text(data: bytes) -> str:
    return decode(data.removeprefix(UTF8_BOM))[0].replace("\r\n", "\n")


def _scan(files: Iterable[tuple[str, str]]) -> Report:
    report = Report()
    for name, text in files:
        if name.lower().endswith(".json"):
            _check_json(name, text, report)
            continue
        report.files += 1
        report.lines += text.count("\n") + 1
        if len(report.findings) >= MAX_COLLECTED:
            report.is_cut = True
            continue
        report.findings += _scan_file(name, text, report)
    return report.close()


def _check_json(name: str, text: str, report: Report) -> None:
    """R-CFG-22; a file whose lines are objects of their own is no configuration."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        if len(report.json_errors) < MAX_JSON_ERRORS and not _is_json_lines(text):
            report.json_errors.append({"file": name, "text": text[:MAX_JSON_TEXT]})


def _is_json_lines(text: str) -> bool:
    try:
        return isinstance(json.loads(text.split("\n", 1)[0]), dict)
    except (ValueError, RecursionError):
        return False


def _scan_file(name: str, text: str, report: Report) -> list[Finding]:
    if name.lower().endswith(".py"):
        try:
            tree = parse(text)
            if tree is not None:
                report.settings[name] = settings_of(tree)
                return scan_tree(name, text, tree)
        except RecursionError:
            pass
        report.unparsed.append(name)
    return list(scan_lines(name, text))
