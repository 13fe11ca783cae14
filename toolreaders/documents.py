"""Manuals, pages and programs: they quote commands and outputs, but are none."""

from __future__ import annotations

import re
from itertools import pairwise

HEADING = re.compile(r"#{1,6} \S")
FENCE = re.compile(r"\s*(?:```|~~~)")
LINK = re.compile(r"\]\((?:https?:|[\w./#-]+\))")
LEAST_HEADINGS, MOST_FENCED = 3, 0.6
LEAST_IN_EXPLANATION = 1
LONGEST_LINE = 2000

MARKUP = re.compile(r"\s*<(?:!DOCTYPE html|html|head|body)\b", re.IGNORECASE)
DIRECTIVE = re.compile(r"\.\. (?:[\w-]+::|_[\w-]+:)")
UNDERLINE = re.compile(r"([=~^\"*-])\1{2,}$")
CHANGE = re.compile(r"(?:diff --git a/|@@ -\d+(?:,\d+)? \+\d+)")

CHINESE = re.compile(r"(?:[^\u4e00-\u9fff|]*[\u4e00-\u9fff]){10}")
STAMP = re.compile(r"\s*(?:\[|\(|\d+[-:/.]\d|\w+\s*:)")
"""How lines of logs begin: a level, a time, a key."""
WORD = re.compile(r"(?<!\S)[A-Za-z'-]+(?=[,;.:!?]*(?:\s|$))")
LEAST_WORDS = 7
INTRODUCTION = re.compile(r"\b(?:as follows|for example|If|when)\b|如下|例如|示例|若|如果")
LEAST_INTRODUCED = 2
LEAST_SENTENCES, LEAST_PROSE = 3, 0.3

DEFINITION = re.compile(
    r"(?:async )?def \w+\(|class \w+[^=]*:$|(?:export )?(?:default )?(?:async )?function\b.*\(|"
    r"(?:export )?(?:const|let|var) \w+\b.*=|func(?: \(\w+ [^)]*\))? \w+\(|(?:pub )?fn \w+|"
    r"\w+ ?\(\) ?\{|(?:static|inline|void|int|bool|struct|enum|namespace|template|typedef|public|"
    r"private|extern)\b[^|]*[;{)]$|"
    r"(?:(?:final|abstract|sealed|open|internal|data) )*"
    r"(?:class|protocol|interface|trait|impl|extension|object)\b[^|]*\{$"
)
"""A function, type or constant that begins at the start of its line."""
METHOD = re.compile(
    r" +(?:(?:async|public|private|protected|static|override|final|pub|suspend) )*"
    r"(?:(?:def|func|fun|fn) \w+\(|(?:void|int|bool|boolean|String) \w+\([^|]*\{$)"
)
"""The same within a type."""
STATEMENT = re.compile(
    r"\s*(?:[\w.\[\]'\"]+(?:: \w+)? [+|-]?= |return\b|assert\b|raise\b|"
    r"import \w|from [\w.]+ import|"
    r"(?:if|elif|for|while|with|else|try|except|switch|case)\b.*[:{;]|@\w+|//|/\*|[})\]]+[;,)]*$|"
    r"#include|echo |then$|fi$|done$|local |print\(|\w+(?:\.\w+)*\(.*\)[;,]?$)|.*[({\[]$"
)
LEAST_DEFINITIONS, LEAST_CODE = 2, 0.25
Lines = list[str]


def is_document(lines: Lines) -> bool:
    """Whether prose with marks of markdown, HTML or reStructuredText surrounds what is quoted."""
    return _is_page(lines) or _is_readme(lines) or _is_restructured(lines)


def is_program(lines: Lines) -> bool:
    """Whether the lines are source code, a script or a change to such."""
    texts = [line for line in lines if line.strip()]
    if not texts or texts[0].startswith("#!"):
        return bool(texts)
    if texts[0].startswith("diff --git ") or sum(map(_begins_change, texts)) >= LEAST_DEFINITIONS:
        return True
    short = [line.rstrip() for line in texts if len(line) < LONGEST_LINE]
    definitions = sum(bool(DEFINITION.match(line)) for line in short)
    if definitions:
        definitions += sum(bool(METHOD.match(line)) for line in short)
    if definitions < LEAST_DEFINITIONS:
        return False
    code = sum(bool(DEFINITION.match(line) or STATEMENT.match(line)) for line in short)
    return code >= LEAST_CODE * len(texts)


def is_explanation(lines: Lines) -> bool:
    """Whether an output would only be quoted: a third are sentences, or most stands outside of
    the fences of a page with a heading."""
    texts = [line.rstrip() for line in lines if line.strip() and len(line) < LONGEST_LINE]
    sentences = sum(map(_is_sentence, texts))
    if sum(_introduces(*pair) for pair in pairwise(texts)) >= LEAST_INTRODUCED:
        return True
    is_prose = sentences >= LEAST_SENTENCES and sentences >= LEAST_PROSE * len(texts)
    return is_prose or _is_readme(lines, LEAST_IN_EXPLANATION)


def _introduces(line: str, following: str) -> bool:
    """Whether a sentence says what the block behind it would show, in one case or another."""
    is_case = INTRODUCTION.search(line) is not None and line.endswith((":", "："))
    return is_case and FENCE.match(following) is not None


def _is_sentence(line: str) -> bool:
    if STAMP.match(line):
        return False
    is_english = line[-1] in ".:!?" and "|" not in line and len(WORD.findall(line)) >= LEAST_WORDS
    return is_english or bool(CHINESE.match(line))


def _begins_change(line: str) -> bool:
    return bool(CHANGE.match(line))


def _is_page(lines: Lines) -> bool:
    return any(MARKUP.match(line) for line in lines[:20])


def _is_readme(lines: Lines, least: int = LEAST_HEADINGS) -> bool:
    """Headings and prose that quote outputs. An issue is mostly quotes."""
    headings = quoted = total = 0
    inside = has_marks = False
    for line in lines:
        is_fence = bool(FENCE.match(line))
        inside ^= is_fence
        has_marks = has_marks or is_fence or bool(LINK.search(line[:LONGEST_LINE]))
        headings += not inside and bool(HEADING.match(line))
        quoted += inside and bool(line.strip())
        total += bool(line.strip())
    return has_marks and headings >= least and quoted <= MOST_FENCED * total


def _is_restructured(lines: Lines) -> bool:
    if not any(DIRECTIVE.match(line) for line in lines):
        return False
    return any(title[:1].strip() and UNDERLINE.match(rule) and len(rule) >= len(title.strip())
               for title, rule in pairwise(lines) if not UNDERLINE.match(title))  # fmt: skip
