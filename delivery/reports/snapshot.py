"""The frozen facts of a document. Everything that a page of it shows is in here."""

import hashlib
import json
from collections import Counter
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from assessments.charts import can_be_drawn, criterion_chart_spec
from assessments.models import Criterion, MetricDefinition, Outcome, Verdict
from assessments.queries import current_criteria, verdict_sentence, verdicts_of
from assessments.sentences import SIGNS, in_unit, shown
from delivery.quotes.models import CompanyProfile
from delivery.reports import evidence
from delivery.reports.bilingual import LANGUAGES, both, instant, pair
from delivery.reports.models import Document
from engagements.models import Customer, Engagement, User
from workers.artifacts import finite_json
from workers.readers.base import ReadError

SCHEMA = 1


def content_hash(snapshot: dict) -> str:
    """SHA-256 of the snapshot as canonical JSON (sorted keys, no spaces, UTF-8)."""
    return hashlib.sha256(canonical(snapshot).encode()).hexdigest()


def canonical(facts: Any) -> str:
    """The one JSON text of plain facts that checksums are made over."""
    return json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def collect(document: Document, *, now: datetime, approved_by: User | None = None) -> dict:
    """All facts of a document, as they stand now; plain JSON with texts in both languages.

    Args:
        document: a draft; its number and version go in as they are.
        now: the time that the document bears.
        approved_by: who issues it; None while it is a draft.
    """
    engagement = document.engagement
    criteria = current_criteria(engagement)
    judged = verdicts_of(criteria) if criteria else []
    metrics = [_metric(criterion, verdict) for criterion, verdict in judged]
    runs, files = evidence.runs(engagement, judged), evidence.manifest(engagement, judged)
    facts = {
        "schema": SCHEMA, **_identity(document, now, approved_by),
        "engagement": _engagement(engagement), "customer": _customer(engagement.customer),
        "supplier": _supplier(), "people": _people(engagement),
        "models": [_model(model) for model in engagement.models.all()],
        "criteria": _criteria(criteria),
        "definitions": _definitions(judged), "metrics": metrics,
        "summary": _summary(metrics, runs), "conclusion": conclusion(metrics),
        "curves": [_curve(c, v) for c, v in judged if can_be_drawn(c, v)],
        "environments": evidence.environments(judged), "runs": runs, "evidence": files,
        "stages": evidence.stages(engagement), "history": evidence.history(engagement),
        "issues": _issues(metrics), "deviations": _deviations(judged),
        "references": _references(engagement, criteria, document),
        "versions": _versions(document),
    }
    facts["is_practice"] = any(row["is_practice"] for row in metrics + runs + files)
    return finite_json(facts)


def _identity(document: Document, now: datetime, approved_by: User | None) -> dict:
    return {
        "kind": document.kind, "title": both(document.get_kind_display),
        "number": document.number, "version": document.version,
        "date": f"{timezone.localtime(now):%Y-%m-%d}", "issued_at": instant(now),
        "is_draft": approved_by is None,
        "prepared_by": _person(document.created_by), "approved_by": _person(approved_by),
        "replaces": str(document.replaces) if document.replaces else "",
        "change_note": document.change_note,
    }


def _person(user: User | None) -> dict:
    return {"name": str(user), "title": user.job_title, "organisation": user.organisation,
            } if user else {"name": "", "title": "", "organisation": ""}


def _engagement(engagement: Engagement) -> dict:
    return {
        "code": engagement.code, "name": pair(engagement.name, engagement.name_en),
        "contract_number": engagement.contract_number,
        "scope": both(engagement.get_scope_display),
        "description": pair(engagement.description, engagement.description_en),
        "starts_on": f"{engagement.starts_on or ''}", "ends_on": f"{engagement.ends_on or ''}",
    }


def _customer(customer: Customer) -> dict:
    fields = ("credit_code", "address", "contact_name", "contact_phone", "contact_email")
    return {"name": pair(customer.name, customer.name_en),
            **{name: getattr(customer, name) for name in fields}}


def _supplier() -> dict:
    """The firm's own particulars."""
    profile = CompanyProfile.objects.first()
    name = getattr(profile, "name", "") or ""
    fields = ("credit_code", "address", "phone", "email", "contact_name")
    return {"name": pair(name, getattr(profile, "name_en", "") or ""),
            **{field: str(getattr(profile, field, "") or "") for field in fields}}


def _people(engagement: Engagement) -> list[dict]:
    rows = engagement.memberships.select_related("user")
    return [{**_person(row.user), "role": both(row.get_role_display),
             "is_customer": row.user.is_reviewer} for row in rows]


def _model(model) -> dict:
    size = model.parameters_billion
    return {"code": model.code, "name": pair(model.name, model.name_en), "task": model.task,
            "framework": model.framework, "scope": both(model.get_scope_display),
            "parameters_billion": "" if size is None else f"{size.normalize():f}"}


def _criteria(criteria) -> dict:
    if criteria is None:
        return {"version": None, "state": "", "content_hash": "", "signed_at": "",
                "signed_by": "", "customer_signatory": ""}
    return {"version": criteria.version, "state": criteria.state,
            "content_hash": criteria.content_hash, "signed_at": instant(criteria.signed_at),
            "signed_by": str(criteria.signed_by or ""),
            "customer_signatory": criteria.customer_signatory}


def _definitions(judged: evidence.Judged) -> list[dict]:
    used: dict[int, MetricDefinition] = {c.definition_id: c.definition for c, _v in judged}
    return [{
        "key": f"{d.code} v{d.version}", "code": d.code, "version": d.version,
        "name": pair(d.name, d.name_en),
        "formula": pair(d.formula, d.formula_en),
        "alignment": pair(d.alignment, d.alignment_en), "unit": d.unit,
        "calculator": both(d.get_calculator_display), "comparison": SIGNS[d.comparison],
        "epsilon": d.epsilon, "minimum_coverage": d.minimum_coverage,
        "minimum_points": d.minimum_points, "first_step": d.first_step,
        "last_step": d.last_step, "source": d.source,
    } for d in used.values()]


def _metric(criterion: Criterion, verdict: Verdict | None) -> dict:
    """A row of the metric table; without a verdict it says so, it is never left out."""
    definition, measurement = criterion.definition, verdict.measurement if verdict else None
    outcome = Outcome(verdict.outcome if verdict else Outcome.NOT_MEASURED)
    unit = definition.unit
    figure = verdict.figure if verdict else None
    return {
        "criterion": criterion.pk, "model": criterion.model.code,
        "stage": both(criterion.get_stage_display),
        "definition": f"{definition.code} v{definition.version}",
        "name": pair(definition.name, definition.name_en), "quantity": criterion.quantity,
        "threshold": f"{SIGNS[definition.comparison]} {in_unit(criterion.threshold, unit)}",
        "baseline": _baseline(criterion), "measured": _measured(criterion, verdict),
        "figure": "" if figure is None else shown(figure, criterion.threshold, unit)[0],
        "outcome": outcome.value, "outcome_label": both(lambda: outcome.label),
        "reason": verdict.reason if verdict else "no_measurement",
        "sentence": both(lambda: verdict_sentence(criterion, verdict)),
        "facts": (verdict.facts if verdict else {}),
        "baseline_artifact": criterion.baseline.artifact_id if criterion.baseline else None,
        "artifact": measurement.artifact_id if measurement else None,
        "place": measurement.place if measurement else "",
        "reader": f"{measurement.reader} {measurement.reader_version}" if measurement else "",
        "job": measurement.job_id if measurement else None,
        "engine_version": verdict.engine_version if verdict else "",
        "computed_at": instant(verdict.computed_at) if verdict else "",
        "is_practice": bool(verdict and verdict.is_practice),
    }


def _baseline(criterion: Criterion) -> dict[str, str]:
    base = criterion.baseline
    if base is None:
        return pair("", "")
    if base.value is None:
        return both(lambda: _("curve"))
    return pair(f"{base.value.normalize():f} {base.unit}".strip(), "")


def _measured(criterion: Criterion, verdict: Verdict | None) -> dict[str, str]:
    measurement = verdict.measurement if verdict else None
    if measurement is None:
        return pair("", "")
    if measurement.value is None:
        points = verdict.facts.get("common_points")
        return both(lambda: _("curve, %(points)s common steps") % {"points": points or 0})
    return pair(f"{measurement.value:g} {measurement.unit}".strip(), "")


def conclusion(metrics: list[dict]) -> str:
    """passed, failed, or not_provable: nothing counts as passed that was not measured."""
    outcomes = {row["outcome"] for row in metrics}
    if Outcome.FAILED in outcomes:
        return "failed"
    return "passed" if outcomes == {Outcome.PASSED} else "not_provable"


def _summary(metrics: list[dict], runs: list[dict]) -> dict:
    outcomes, states = (Counter(row[key] for row in rows)
                        for rows, key in ((metrics, "outcome"), (runs, "state")))
    return {
        "metrics": len(metrics), **{value: outcomes[value] for value in Outcome.values},
        "runs": len(runs), "runs_succeeded": states["succeeded"],
        "runs_failed": sum(states[s] for s in ("failed", "timed_out", "lost")),
        "runs_cancelled": states["cancelled"], "runs_judged": sum(r["is_judged"] for r in runs),
        "machine_hours": f"{sum(r['seconds'] for r in runs) / 3600:.2f}",
        "card_hours": f"{sum(r['seconds'] * r['cards_wanted'] for r in runs) / 3600:.2f}",
    }


def _curve(criterion: Criterion, verdict: Verdict) -> dict:
    """The picture as data: down-sampled points in a Vega-Lite specification per language."""
    specs = {}
    for language in LANGUAGES:
        with override(language):
            try:
                specs[language] = criterion_chart_spec(criterion, verdict, is_interactive=False)
            except (ReadError, OSError):
                specs[language] = {}
    return {"criterion": criterion.pk, "spec": specs}


def _issues(metrics: list[dict]) -> list[dict]:
    """Outstanding issues: every criterion that is not passed."""
    open_rows = [row for row in metrics if row["outcome"] != Outcome.PASSED]
    return [{"number": f"PL-{n:02}", "model": row["model"], "name": row["name"],
             "text": row["sentence"], "outcome": row["outcome"],
             "label": row["outcome_label"]} for n, row in enumerate(open_rows, 1)]


def _deviations(judged: evidence.Judged) -> list[dict]:
    """What the engine had to do or found odd while it compared (warnings of the verdicts)."""
    return [{"model": criterion.model.code, "name": pair(criterion.definition.name,
                                                         criterion.definition.name_en),
             "code": warning.get("code", ""), "message": warning.get("message", "")}
            for criterion, verdict in judged if verdict
            for warning in verdict.facts.get("warnings") or []]


def _references(engagement: Engagement, criteria, document: Document) -> list[dict]:
    """Contract, signed criteria, and the documents this one rests on, with their hashes."""
    rows = []
    if engagement.contract_number:
        rows.append({"title": both(lambda: _("Contract")), "number": engagement.contract_number,
                     "version": "", "hash": "", "date": ""})
    if criteria:
        rows.append({"title": both(lambda: _("Signed acceptance criteria")),
                     "number": engagement.code, "version": f"V{criteria.version}",
                     "hash": criteria.content_hash,
                     "date": instant(criteria.signed_at)[:10]})
    issued = engagement.documents.exclude(pk=document.pk).filter(
        state__in=[Document.State.ISSUED, Document.State.SIGNED]).order_by("pk")
    return rows + [{
        "title": both(other.get_kind_display), "number": other.number,
        "version": f"V{other.version}.0", "hash": other.content_hash,
        "date": instant(other.issued_at)[:10]} for other in issued]


def _versions(document: Document) -> list[dict]:
    """The revision history, oldest first, this version last."""
    chain, current = [], document
    while current.replaces:
        current = current.replaces
        chain.append({"version": f"V{current.version}.0", "date": instant(current.issued_at)[:10],
                      "note": current.change_note, "who": str(current.created_by),
                      "approved": str(current.issued_by or "")})
    return chain[::-1]
