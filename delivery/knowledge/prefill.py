"""What the form of a new case starts with: from a failed job, an issue or a verdict.

The writer completes the rest.
"""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from assessments.models import Verdict
from assessments.verdicts.environments import of_run
from delivery.knowledge import signatures
from delivery.planning.models import ProjectIssue
from workers.logs import diagnosis
from workers.models import Job, JobState

# What hardly bears on a failure of the software.
NOT_A_VERSION = ("os", "seed", "cards", "hostname", "kernel")


def from_job(job: Job) -> dict[str, Any]:
    """The case's fields as a failed job's diagnosis fills them, and the job that cured it."""
    shown = signatures.of_job(job)
    if shown is None:
        return {}
    stored, advice = job.results.get("diagnosis") or {}, diagnosis.presented(job) or {}
    line = stored.get("quote", "")
    cured = cure_of(job)
    codes = _first(shown.error_codes)
    return {
        "title": job.sentence[:160],
        "diagnosis": shown.diagnosis, "error_code": codes, "operator": _first(shown.operators),
        "tool": job.kind if shown.diagnosis == "python_error" and not codes else "",
        "log_pattern": "" if codes else signatures.as_pattern(line),
        "versions": _versions(shown.versions),
        "cause": line,
        "cure": "\n".join(filter(None, (advice.get("remedy", ""), _changed(job, cured)))),
        "cured_by": cured}


def from_issue(issue: ProjectIssue) -> dict[str, Any]:
    """The case's fields as an outstanding issue fills them."""
    text = issue.description
    codes = [*signatures.CODE.findall(text)]
    operators = ["".join(found) for found in signatures.OPERATOR.findall(text)]
    return {"title": text[:160], "error_code": _first(codes), "operator": _first(operators),
            "cause": issue.effect}


def from_verdict(verdict: Verdict) -> dict[str, Any]:
    """The case's fields as a failed verdict fills them: what was judged, with which versions."""
    definition = verdict.criterion.definition
    return {"title": _("%(figure)s not met") % {"figure": definition.localized_name},
            "versions": _versions(of_run(verdict.measurement))}


def cure_of(job: Job) -> Job | None:
    """The first success after a failure: of its retry, else of the same kind and model."""
    later = Job.objects.filter(
        kind=job.kind, engagement=job.engagement, model=job.model, state=JobState.SUCCEEDED,
        pk__gt=job.pk, gang=None).order_by("pk")
    return later.filter(retry_of=job).first() or later.first()


def cure_of_verdict(verdict: Verdict) -> Verdict | None:
    """The first passed verdict of the same criterion after a failed one."""
    return Verdict.objects.filter(criterion=verdict.criterion, outcome="passed",
                                  pk__gt=verdict.pk).order_by("pk").first()


def _first(found: Iterable[str]) -> str:
    return next(iter(found), "")


def _versions(software: dict[str, Any]) -> dict[str, str]:
    return {name: str(value)[:80]
            for name, value in sorted(software.items())
            if name not in NOT_A_VERSION and not isinstance(value, dict | list)}


def _changed(failed: Job, cured: Job | None) -> str:
    """What the successful job was given otherwise, as a line of words."""
    if cured is None:
        return ""
    before, after = failed.parameters, cured.parameters
    changes = [f"{name}: {_value(before.get(name))} → {_value(after.get(name))}"
               for name in sorted(before.keys() | after.keys())
               if before.get(name) != after.get(name)]
    return _("Changed for the run that succeeded: %(changes)s") % {
        "changes": "; ".join(changes)} if changes else ""


def _value(value: Any) -> str:
    return "--" if value in (None, "") else str(value)[:120]
