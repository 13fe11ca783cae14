"""Human evaluations of generated text in the test report (seed S3, 6)."""

from django.utils.translation import gettext as _

from assessments.human_evaluation.results import results_of
from assessments.models import HumanEvaluation
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from toolreaders.verdicts.agreement import Agreement


def human_evaluation(source: Source) -> dict[str, dict]:
    """{"human": table} with a row per concluded evaluation; nothing where there is none."""
    found = HumanEvaluation.objects.filter(
        model__in=source.models).exclude(concluded_at=None).select_related(
        "model", "baseline_file", "candidate_file").order_by("model__code", "pk")
    rows = [_row(evaluation) for evaluation in found]
    if not rows:
        return {}
    return {"human": table(lambda: _("Human evaluation of generated text"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Evaluation")),
        column(lambda: _("Prompts"), "number"), column(lambda: _("Raters"), "number"),
        column(lambda: _("Better / the same / worse")), column(lambda: _("Not worse"), "number"),
        column(lambda: _("Agreement")), column(lambda: _("Evidence"), "code")], rows)}


def _row(evaluation: HumanEvaluation) -> list:
    found = results_of(evaluation)
    whole = found.whole
    return [evaluation.model.code, evaluation.name, len(evaluation.items), len(found.raters),
            f"{whole.better} / {whole.same} / {whole.worse}",
            "" if whole.not_worse is None else f"{whole.not_worse:.1%}",
            both(lambda: _agreed(found.agreement)), f"E{evaluation.report_id}"]


def _agreed(found: Agreement | None) -> str:
    if found is None:
        return _("one rater")
    if found.kappa is None:
        return _("not defined")
    return f"κ = {found.kappa:.3f} ({found.source})"
