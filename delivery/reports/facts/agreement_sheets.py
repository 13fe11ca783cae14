"""Criteria and baselines as the sheets that both sides confirm (DOMAIN AR-02, AR-04)."""

from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.models import Baseline, Criterion
from assessments.presentation.quantity_labels import quantity_label
from assessments.services.baselines import is_curve, scatter_question, spread
from assessments.services.confirmations import baseline_hash, confirmations
from delivery.documents.bilingual import both, instant, named, pair
from delivery.documents.tables.table import column, table
from delivery.reports.facts.definitions import selection_rule
from delivery.reports.facts.source import Source
from engagements.text.text_joining import bracketed, labelled
from toolreaders.verdicts.sentences import SIGNS, in_unit
from workers.artifacts import provenance


def criteria(source: Source) -> dict:
    """One row per criterion: model, stage, metric and definition, threshold, baseline."""
    rows = [[n, c.model.code, both(c.get_stage_display),
             pair(c.definition.name, c.definition.name_en),
             f"V{c.definition.version}",
             f"{SIGNS[c.definition.comparison]} {in_unit(c.threshold, c.definition.unit)}",
             _reference(c), both(lambda c=c: selection_rule(c.definition))]
            for n, (c, _v) in enumerate(source.judged, 1)]
    return {**table(lambda: _("Acceptance criteria"), [
        column(lambda: _("No."), "number"), column(lambda: _("Model"), "code", is_required=True),
        column(lambda: _("Stage")), column(lambda: _("Metric"), is_required=True),
        column(lambda: _("Definition"), is_required=True),
        column(lambda: _("Threshold"), "number", is_required=True),
        column(lambda: _("Baseline")), column(lambda: _("Value taken"))], rows,
                    empty=lambda: _("There is no criterion.")),
        "cure": reverse("assessments:criteria", args=[source.engagement.code])}


def _reference(criterion: Criterion) -> dict[str, str]:
    if criterion.baseline is None:
        return both(lambda: _("none (absolute)"))
    return _value(criterion.baseline)


def _value(baseline: Baseline) -> dict[str, str]:
    if baseline.value is None:
        return both(lambda: _("curve"))
    return pair(in_unit(baseline.value, baseline.unit), "")


def _source(baseline: Baseline) -> str | dict[str, str]:
    """Where it comes from; of a published one that nobody has measured it."""
    return both(lambda: labelled(baseline.get_origin_display(), baseline.source)
                if baseline.source else str(baseline.get_origin_display())
                ) if baseline.is_published else baseline.source


def baselines(source: Source) -> dict:
    """One row per baseline: value, source, conditions, file."""
    rows = [[f"B{b.pk}", b.model.code, both(lambda b=b: quantity_label(b.quantity)), _value(b),
             _source(b),
             b.hardware or _item(b, "chip", "cards"),
             b.software or _item(b, "framework", "torch", "cuda", "driver"),
             b.data_set or _item(b, "dataset"), b.seeds or _item(b, "seed"),
             named(b.recorded_by), instant(b.measured_at)] for b in source.baselines]
    return {**table(lambda: _("Baselines and how they were measured"), [
        column(lambda: _("No."), "code"), column(lambda: _("Model"), "code", is_required=True),
        column(lambda: _("Measured quantity")), column(lambda: _("Value"), is_required=True),
        column(lambda: _("Source"), is_required=True),
        column(lambda: _("Hardware"), is_required=True),
        column(lambda: _("Software"), is_required=True), column(lambda: _("Data set")),
        column(lambda: _("Seeds")), column(lambda: _("By")), column(lambda: _("Time"))], rows,
                    is_dense=True,
                    empty=lambda: _("No baseline is recorded.")),
        "cure": _page(source)}


def origins(source: Source) -> dict:
    """Who measured each baseline and on whose machine, as far as the store of files knows: the
    job that made its file, or that a person stored it."""
    return table(lambda: _("Baselines: who measured them, and on whose machine"), [
        column(lambda: _("No."), "code"), column(lambda: _("Model"), "code"),
        column(lambda: _("Measured quantity")), column(lambda: _("By")),
        column(lambda: _("Node")), column(lambda: _("Time"))],
        [[f"B{b.pk}", b.model.code, both(lambda b=b: quantity_label(b.quantity)), *_origin(b),
          instant(b.measured_at)] for b in source.baselines],
        is_dense=True, empty=lambda: _("No baseline is recorded."))


def _origin(baseline: Baseline) -> list[dict[str, str]]:
    job = provenance.of(baseline.artifact).job if baseline.artifact else None
    if job is None or job.node is None:
        return [named(job.created_by, job.agent) if job else both(lambda: _("not recorded")),
                both(lambda: _("not recorded"))]
    return [named(job.created_by, job.agent), both(lambda: f"{job.node_names}" + bracketed(
        _("the customer") if job.node.is_customers else _("Supplier")))]


def _item(baseline: Baseline, *names: str) -> str:
    known = {str(k).lower(): v for k, v in (baseline.environment or {}).items()}
    return ", ".join(str(known[name]) for name in names if known.get(name))


def repeats(source: Source) -> dict:
    """Repeats and spread of each baseline; the spread of a curve is its mean relative error."""
    rows = []
    for b in source.baselines:
        found = spread(b)
        found = found if found and found.runs > 1 else None
        rows.append([f"B{b.pk}", b.model.code, found.runs if found else 1,
                     *([f"{found.mean:.6g}", f"{found.smallest:.6g} – {found.largest:.6g}",
                        "–" if found.deviation is None else f"{found.deviation:.3g}"]
                       if found else ["–", "–", "–"]),
                     both(lambda b=b: _("mean relative error between runs") if is_curve(b)
                          else _("value of the quantity")),
                     both(lambda b=b, f=found: scatter_question(b) or (
                         _("yes") if f and f.is_repeatable else _("no: fewer than three runs")))])
    return table(lambda: _("Repeats and spread"), [
        column(lambda: _("No."), "code"), column(lambda: _("Model"), "code"),
        column(lambda: _("Runs"), "number"), column(lambda: _("Mean"), "number"),
        column(lambda: _("Range"), "number"), column(lambda: _("Standard deviation"), "number"),
        column(lambda: _("Compared by")), column(lambda: _("Repeatable"))], rows,
                 empty=lambda: _("No baseline is recorded."))


def baseline_files(source: Source) -> dict:
    """The raw files of the baselines with their checksums."""
    rows = []
    for b in source.baselines:
        files = [b.artifact, *(run.artifact for run in b.runs.select_related("artifact"))]
        rows += [[f"B{b.pk}", f"E{f.pk}", f.name, f.size, f.sha256] for f in files if f]
    return {**table(lambda: _("Raw files"), [
        column(lambda: _("Baseline"), "code"), column(lambda: _("Evidence"), "code"),
        column(lambda: _("File")), column(lambda: _("Size (bytes)"), "number"),
        column(lambda: "SHA-256", "hash", is_required=True)], rows,
                    empty=lambda: _("No file is stored.")), "cure": _page(source)}


def confirmed(source: Source) -> dict:
    """Which side confirmed which baseline, and when it was frozen."""
    rows = []
    for b in source.baselines:
        sides = {entry.side: entry for entry in confirmations(baseline_hash(b), baseline=b)}
        rows.append([f"B{b.pk}", *(_who(sides.get(side)) or _with_criteria(b, source)
                                   for side in ("firm", "customer")),
                     instant(b.frozen_at), baseline_hash(b)])
    return table(lambda: _("Confirmations"), [
        column(lambda: _("Baseline"), "code"), column(lambda: _("Supplier")),
        column(lambda: _("Customer")), column(lambda: _("Frozen")),
        column(lambda: _("Content hash (SHA-256)"), "hash")], rows,
                 empty=lambda: _("No baseline is recorded."))


def _who(entry) -> str | dict[str, str]:
    return both(lambda: f"{entry} {instant(entry.confirmed_at)[:10]}") if entry else ""


def _with_criteria(baseline: Baseline, source: Source) -> str | dict[str, str]:
    """A frozen baseline that nobody confirmed apart was signed with the criteria that use it."""
    if not (baseline.frozen_at and source.criteria and source.criteria.signed_at):
        return ""
    return both(lambda: _("with the criteria V%(n)s") % {"n": source.criteria.version})


def _page(source: Source) -> str:
    return reverse("assessments:criteria", args=[source.engagement.code])
