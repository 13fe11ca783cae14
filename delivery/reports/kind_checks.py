"""What a declared kind of document would only lack when it is printed, named at start."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.core import checks
from django.template import TemplateDoesNotExist
from django.template.loader import get_template

from delivery.reports import registry
from delivery.reports.approvals import approval_steps
from delivery.reports.registry import DocumentKind, Section
from delivery.reports.rendering import FOLDER
from engagements.errors import InvalidInput


def check_kinds(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """An error for everything that a kind names and that is not there."""
    return [checks.Error(f"Document kind {kind.code}: {problem}", id="documents.E001",
                         hint="docs/extending.md names the files of a kind of document.")
            for kind in registry.all_kinds() for problem in problems_of_kind(kind)]


def problems_of_kind(kind: DocumentKind) -> Iterator[str]:
    """Parts without template or Word twin, and what is wrong with the declared chain."""
    for name in _named((*kind.sections, *kind.annexes)):
        try:
            get_template(f"{FOLDER}{name}.html")
        except TemplateDoesNotExist:
            yield f"part:{name} has no template {FOLDER}{name}.html."
    if "docx" in kind.writers:
        from delivery.reports.office.word_parts import PARTS  # python-docx takes long to import

        for name in _named(kind.sections):
            if name not in PARTS:
                yield (f"part:{name} is in no Word file: add it to PARTS of "
                       "delivery/reports/office/word_parts.py.")
    if kind.chain:
        try:
            approval_steps.require_chain(kind.code, approval_steps.numbered(kind.chain))
        except InvalidInput as error:
            yield error.message


def _named(sections: Iterable[Section]) -> list[str]:
    return [name.removeprefix("part:") for section in sections for name in section.all_parts
            if name.startswith("part:")]
