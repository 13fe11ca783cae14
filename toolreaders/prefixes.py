"""What surrounds the lines of an output: what containers, launchers, loggers and people put before
each of them. Where lines were broken: `wrapping`.

A kind of prefix is a row of `FORMS`. One that nearly every line bears is taken off before any
reader sees the text, layer by layer: a container that prints with time stamps has two.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from toolreaders.decoding import ANSI_BYTES

DAY = rb"\d{4}-\d\d-\d\d"
CLOCK = rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
LEVEL = rb"(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)"
BEHIND = rb"(?: |\t|(?=\r?$))"


@dataclass(frozen=True)
class Form:
    """One kind of prefix. ``pattern`` ends where the output's own line begins. ``names``: what its
    text tells apart: outputs that must not be mixed, or processes of one program, whose lines
    readers of training logs tell apart themselves; otherwise every line has another text.
    ``behind``: what parts such a name from the line."""

    pattern: re.Pattern[bytes]
    names: Literal["outputs", "processes", ""] = ""
    behind: bytes = BEHIND


def _form(pattern: bytes, names: Literal["outputs", "processes", ""] = "",
          behind: bytes = BEHIND) -> Form:
    return Form(re.compile(rb"^" + pattern, re.MULTILINE), names, behind)


ZONED = DAY + rb"T" + CLOCK + rb"(?:Z|[+-]\d\d:?\d\d)"
MONTH = rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
FORMS = {
    "docker compose": _form(
        rb"(?:[A-Za-z0-9][\w.-]*[-_]\d+ +|[A-Za-z0-9][\w.-]* {2,})\|" + BEHIND, "outputs"),
    "kubectl logs --prefix": _form(rb"\[pod/[\w.-]+/[\w.-]+\]" + BEHIND, "outputs"),
    "mpirun --tag-output": _form(rb"\[\d+,\d+\]<std(?:out|err)>:", "processes", rb""),
    "srun --label": _form(rb" *\d+:" + BEHIND, "outputs"),
    "Ray, vLLM": _form(
        rb"\([A-Za-z_][\w.]* pid=\d+(?:, ip=[\da-f.:]+)?\)" + BEHIND, "processes"),
    "CRI": _form(ZONED + rb" std(?:out|err) [FP]" + BEHIND),
    "syslog": _form(rb"(?:" + MONTH + rb" [\w.-]+ [A-Za-z][\w./-]*(?:\[\d+\])?|"
                    + ZONED + rb" [\w.-]+ [A-Za-z][\w./-]*\[\d+\]):" + BEHIND),
    "docker logs --timestamps": _form(ZONED + BEHIND),
    "vLLM's logger": _form(LEVEL + rb" \d\d-\d\d \d\d:\d\d:\d\d \[[\w./-]+:\d+\]" + BEHIND),
    "time stamp": _form(
        rb"(?:\[" + DAY + rb" " + CLOCK + rb"\]|" + DAY + rb" " + CLOCK + rb"|" + MONTH + rb")"
        rb"(?! (?:- )?(?:\(\d+\)|\[" + LEVEL + rb"\]))" + BEHIND),
    "quotation": _form(rb" ?(?:> ?)+(?=[^>\s]|\s|$)"),
    "comment": _form(rb"#(?: |(?=\r?$))"),
}
"""A time stamp stays where the tool's own form begins with it: loggers of MindStudio's tools."""
LEAST_LINES = 3
LEAST_SHARE = 0.8
"""Of the lines that are not blank; the launcher adds a few lines of its own."""
MOST_LAYERS = 4


@dataclass(frozen=True)
class Prefixes:
    """What stands before the lines: patterns of the layers, outermost first. ``names``: those of
    the outputs that are mixed; their lines stay as they are."""

    layers: list[re.Pattern[bytes]] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)

    def taken_off(self, data: bytes) -> bytes:
        """Lines without prefixes, and then without terminal codes."""
        if self.layers:
            data = ANSI_BYTES.sub(b"", data)
        for layer in self.layers:
            data = layer.sub(b"", data)
        return data


def prefixes_of(head: bytes) -> Prefixes:
    """The prefixes that nearly all lines of the head begin with, each on three lines at least."""
    found = Prefixes()
    lines = [line for line in ANSI_BYTES.sub(b"", head).splitlines() if line.strip()]
    for _layer in range(MOST_LAYERS):
        layer = next(filter(None, (_layer_of(form, lines, found) for form in FORMS.values())), None)
        if layer is None:
            break
        found.layers.append(layer)
        lines = [own for line in lines if (own := layer.sub(b"", line)).strip()]
    indent = min((len(line) - len(line.lstrip(b" ")) for line in lines), default=0)
    if found.layers and indent:
        found.layers.append(re.compile(rb"^ {%d}" % indent, re.MULTILINE))
    return found


def _layer_of(form: Form, lines: list[bytes], found: Prefixes) -> re.Pattern[bytes] | None:
    """What to take off; None where few lines have the form or where it names several."""
    counts = Counter(
        match[0].rstrip() if form.names else b"" for line in lines
        if (match := form.pattern.match(line)))  # fmt: skip
    frequent = sorted(name for name, count in counts.items() if count >= LEAST_LINES)
    if sum(counts[name] for name in frequent) < max(LEAST_SHARE * len(lines), LEAST_LINES):
        return None
    if len(frequent) == 1:
        name = re.escape(frequent[0])
        return re.compile(rb"^" + name + form.behind, re.MULTILINE) if form.names else form.pattern
    if form.names == "outputs":
        found.names.extend(name for name in frequent if name not in found.names)
    return None
