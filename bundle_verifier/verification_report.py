"""HTML report of a verification."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from bundle_verifier.check_steps import CheckStep
from bundle_verifier.translation import gettext as _
from bundle_verifier.translation import ngettext

STYLE = (
    "@page{size:A4;margin:18mm}body{font:15px/1.5 'Noto Sans CJK SC','Microsoft YaHei',sans-serif;"
    "max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d273b}h1{font-size:1.5rem}"
    "h2{font-size:1.1rem;margin-top:2rem;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%}"
    "td{border-top:1px solid #dadfe5;padding:.35rem .5rem;vertical-align:top;"
    "overflow-wrap:anywhere}td:first-child{width:6rem;white-space:nowrap}"
    "tr{break-inside:avoid}.FAIL{color:#b3261e;font-weight:600}.open{color:#8a5300}"
    "code{overflow-wrap:anywhere}")


def status_text(step: CheckStep) -> str:
    """Result of a step in four characters, stable for scripts."""
    return "open" if step.is_open else "  ok" if step.is_good else "FAIL"


def conclusion(steps: Sequence[CheckStep]) -> str:
    """One sentence for a bundle."""
    failed = sum(not step.is_good for step in steps)
    limits = [step.conclusion for step in steps if step.conclusion]
    left_open = sum(step.is_open and not step.conclusion for step in steps)
    if failed:
        return ngettext("NOT good: %(n)d step failed.", "NOT good: %(n)d steps failed.",
                        failed) % {"n": failed}
    if left_open:
        limits.append(ngettext("good as far as it goes; %(n)d step could not be checked.",
                               "good as far as it goes; %(n)d steps could not be checked.",
                               left_open) % {"n": left_open})
    return "; ".join(limits) or _("good")


def write_report(out: Path, results: Sequence[tuple[Path, Sequence[CheckStep]]], language: str
                 ) -> None:
    """The page in the active language, whose code `language` is, as one HTML file without links."""
    title = escape(_("Check of evidence bundles"))
    checked = escape(_("Checked on %(at)s (UTC) from the bundles' own files; no network was used.")
                     % {"at": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"})
    sections = "\n".join(_section(*result) for result in results)
    out.write_text(
        f'<!doctype html><html lang="{escape(language)}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1><p>{checked}</p>{sections}"
        "</body></html>\n", "utf-8")


def _section(path: Path, steps: Sequence[CheckStep]) -> str:
    labels = {"  ok": _("holds"), "open": _("not checked"), "FAIL": _("does not hold")}
    rows = "\n".join(
        f'<tr class="{status.strip()}"><td>{escape(labels[status])}</td>'
        f"<td>{escape(step.text)}</td></tr>"
        for step in steps for status in [status_text(step)])
    return (f"<h2>{escape(path.name)}: {escape(conclusion(steps))}</h2>"
            f"<p>SHA-256 <code>{_digest(path)}</code></p><table>{rows}</table>")


def _digest(path: Path) -> str:
    if not path.is_file():
        return "–"
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
