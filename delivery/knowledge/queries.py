"""Reads of solved cases."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from delivery.knowledge import signatures
from delivery.knowledge.models import SolvedCase
from delivery.knowledge.signatures import Signature
from engagements.models import User
from engagements.search_index import holding
from workers.models import Job

# Cases without code and diagnosis have only their text to be found by: the newest are tried.
MOST_BY_TEXT = 1000
MOST_BY_KEY = 500


@dataclass(frozen=True)
class Match:
    """A case whose signature a job shows: by which parts, and which versions differ."""

    case: SolvedCase
    parts: list[str]
    differences: list[tuple[str, str, str]]

    @property
    def labels(self) -> list[str]:
        """The matched parts, named in the active language."""
        return [str(SolvedCase._meta.get_field(name).verbose_name) for name in self.parts]


def matches_of(job: Job, user: User) -> list[Match]:
    """The cases in force whose signature the job shows, the closest first.

    Closest: most parts of the signature, then fewest other versions, then the newest.
    """
    shown = signatures.of_job(job)
    if shown is None or shown.is_empty:
        return []
    found = [Match(case, parts, signatures.version_differences(case, shown))
             for case in _candidates(shown, user)
             if (parts := signatures.matched_parts(case, shown))]
    return sorted(found, key=lambda match: (
        -len(match.parts), len(match.differences), -match.case.pk))


def _candidates(shown: Signature, user: User) -> Iterator[SolvedCase]:
    """Cases that may match, each by an index."""
    cases = SolvedCase.objects.visible_to(user).in_force()
    by_key = Q(error_code__in=shown.error_codes)
    if shown.diagnosis:
        by_key |= Q(error_code="", diagnosis=shown.diagnosis)
    if shown.error_codes or shown.diagnosis:
        yield from cases.filter(by_key)[:MOST_BY_KEY]
    yield from cases.filter(error_code="", diagnosis="")[:MOST_BY_TEXT]


def filtered_cases(cases: QuerySet, asked: Mapping[str, str]) -> QuerySet:
    """Those that the query string asks for: `q` (words), `error_code`, `diagnosis`, `tool`,
    `retired` (yes: only those; else only those in force), `approved` (no: only those whose text
    nobody has approved)."""
    cases = cases.exclude(retired_at=None) if asked.get("retired") == "yes" else cases.in_force()
    if asked.get("approved") == "no":
        cases = cases.filter(approved_at=None)
    for name in ("error_code", "diagnosis", "tool"):
        if value := asked.get(name, "").strip():
            cases = cases.filter(**{name: value})
    if text := asked.get("q", "").strip():
        cases = cases.filter(Q(pk__in=holding(SolvedCase, text)) | Q(cause__icontains=text)
                             | Q(cure__icontains=text))
    return cases
