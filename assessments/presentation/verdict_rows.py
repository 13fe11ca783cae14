"""Verdicts as pages show them: rows, figures beside the judged one, facts and warnings."""

from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.accuracy.allowlist import ConfigVerdict
from assessments.labels.verdict_sentences import sentence
from assessments.models import Criterion, MetricDefinition, Verdict
from assessments.models.measurement import Outcome
from assessments.presentation.definition_preview import tried
from assessments.presentation.quantity_labels import criterion_name
from assessments.queries import verdict_sentence, waiver_of
from engagements.text.text_joining import following, listed
from toolreaders.verdicts.difference_sentences import METHODS
from toolreaders.verdicts.sentences import SIGNS, in_unit, shown
from toolreaders.verdicts.verdict import Rule, compare
from workers.labels.number_text import figure_text
from workers.models import Artifact, Purpose

ABSOLUTE = ("mean_absolute_error",)


@dataclass(frozen=True)
class Row:
    """A criterion with its newest verdict, as text."""

    criterion: Criterion
    verdict: Verdict | None
    outcome: str
    label: str
    limit: str
    figure: str
    sentence: str

    @property
    def name(self) -> str:
        return criterion_name(self.criterion)

    @property
    def is_waived(self) -> bool:
        return waiver_of(self.criterion) is not None

    @classmethod
    def of(cls, criterion: Criterion, verdict: Verdict | None) -> "Row":
        outcome = verdict.outcome if verdict else Outcome.NOT_MEASURED
        unit = criterion.definition.unit
        has_figure = verdict and verdict.figure is not None and verdict.reason != "nonfinite"
        return cls(
            criterion, verdict, outcome, Outcome(outcome).label,
            f"{SIGNS[criterion.definition.comparison]} {in_unit(criterion.threshold, unit)}",
            shown(verdict.figure, criterion.threshold, unit)[0] if has_figure else "--",
            verdict_sentence(criterion, verdict))


def outcome_label(outcome: str) -> str:
    """The outcome's word in the active language."""
    return Outcome(outcome).label


def sheet_label(sheet: str) -> str:
    """What a part of a configuration check compares."""
    labels = {"env": _("Environment variables"), "pip": _("Python packages"),
              "dataset": _("Data set"), "weights": _("Initial weights"),
              "hyperparameters": _("Hyperparameters"), "random": _("Random calls")}
    return labels.get(sheet, sheet)


def config_sentence(verdict: ConfigVerdict) -> str:
    """What the comparison of two configurations comes to, after the allow-list."""
    counts = verdict.counts
    parts = []
    for state, sentence_of in (
        ("must_match", lambda n: ngettext(
            "%(n)d difference where both runs must match.",
            "%(n)d differences where both runs must match.", n)),
        ("open", lambda n: ngettext(
            "%(n)d difference is not on the allow-list.",
            "%(n)d differences are not on the allow-list.", n)),
        ("proposed", lambda n: ngettext(
            "%(n)d difference waits for its review.",
            "%(n)d differences wait for their review.", n)),
    ):
        if n := counts.get(state, 0):
            parts.append(sentence_of(n) % {"n": n})
    if verdict.not_compared:
        parts.append(_("Not compared: %(parts)s.") % {
            "parts": listed(map(sheet_label, verdict.not_compared))})
    return " ".join(parts) or _("Both configurations agree after the reviewed allow-list.")


def rows(pairs: list[tuple[Criterion, Verdict | None]]) -> list[Row]:
    return [Row.of(criterion, verdict) for criterion, verdict in pairs]


def told(verdicts: list[Verdict], chosen: Artifact) -> list[str]:
    """What judging a file came to: per criterion the file that its verdict rests on, which is
    another one where the criterion's rule takes a later run."""
    found = []
    for verdict in verdicts:
        name, files = criterion_name(verdict.criterion), {
            run["artifact"] for run in verdict.facts.get("runs", ())}
        judged = verdict.measurement.artifact if verdict.measurement else chosen
        values = {"criterion": name, "file": judged.name, "chosen": chosen.name,
                  "outcome": verdict.get_outcome_display(),
                  "rule": verdict.criterion.run_rule_text}
        found.append(_("%(criterion)s: judged by %(file)s, %(outcome)s.") % values
                     if not files or chosen.pk in files else
                     _("%(criterion)s: judged by %(file)s (rule: %(rule)s), %(outcome)s; "
                       "%(chosen)s does not count and stands among the runs.") % values)
    return found or [_("The file was read; it bears on no criterion.")]


def preview(data: dict) -> dict:
    """What a tried definition makes of the sample pair: sentence, verdict and all figures."""
    rule = Rule(figure=data["figure"], comparison=data["comparison"],
                epsilon=data["epsilon"] or 0.0, first_step=data["first_step"],
                last_step=data["last_step"])
    threshold = data["threshold"] / Decimal(100)
    outcome, known = tried(data["pair"], threshold, rule)
    names = {**_figure_names(), "signed_mean": _("Signed mean of the relative errors")}
    if data["figure"] == "signed_mean":  # no rule of the engine: for the comparison only
        is_met = compare(known["signed_mean"], threshold, rule.comparison)
        outcome = replace(outcome, outcome="passed" if is_met else "failed", reason="",
                          figure=known["signed_mean"])
    return {"outcome": outcome.outcome, "label": Outcome(outcome.outcome).label,
            "sentence": sentence(outcome.outcome, outcome.reason, outcome.figure, threshold,
                                 rule.comparison, "%", outcome.facts),
            "figures": [{"name": name, "text": _figure_text(code, known[code]),
                         "is_judged": code == data["figure"]}
                        for code, name in names.items() if code in known]}


def _figure_names() -> dict[str, str]:
    return {
        "mean_relative_error": _("Mean relative error"),
        "mean_relative_error_from_step_21": _("Mean relative error from step 21"),
        "mean_relative_error_epsilon_added": _("Mean relative error, ε added to the divisor"),
        "max_relative_error": _("Maximum relative error of any step"),
        "fraction_over_2_percent": _("Share of steps with more than 2 %"),
        "mean_absolute_error": _("Mean absolute error"),
        "relative_error_of_means": _("Relative error of the mean losses"),
        "relative_error_last_100": _("Relative error of the mean of the last 100 losses"),
        "relative_error_first_step": _("Relative error of the first loss"),
        "mean_relative_error_smoothed_100": _("Mean relative error of 100-step averages "
                                              "(shown, never judged)"),
    }


def figures(criterion: Criterion, verdict: Verdict | None) -> list[dict]:
    """All figures of a curve beside the judged one, with the definitions that judge them."""
    if verdict is None or criterion.definition.calculator != MetricDefinition.Calculator.LOSS_CURVE:
        return []
    known = verdict.facts.get("figures") or {}
    definitions: dict[str, list[MetricDefinition]] = {}
    for entry in MetricDefinition.objects.filter(calculator=criterion.definition.calculator):
        definitions.setdefault(entry.figure, []).append(entry)
    return [{"name": name, "text": _figure_text(code, known[code]),
             "is_judged": code == criterion.definition.figure,
             "definitions": definitions.get(code, [])}
            for code, name in _figure_names().items() if code in known]


def _figure_text(code: str, value) -> str:
    if not isinstance(value, (int, float)):
        return "--"
    return f"{value:.6g}" if code in ABSOLUTE else f"{100 * value:.5g} %"


def facts(verdict: Verdict | None) -> list[tuple[str, str]]:
    """What was compared: label and text."""
    if verdict is None:
        return []
    known, found = verdict.facts, []
    if "common_points" in known:
        found = [
            (_("Common steps"), known["common_points"]),
            (_("Baseline steps in the window"), known.get("baseline_points")),
            (_("Step coverage"), f"{100 * known.get('coverage', 0):.4g} %"),
            (_("Steps"), f"{known.get('first_step')} – {known.get('last_step')}"),
            (_("Not finite"), known.get("nonfinite")),
        ]
    if "alignment" in known:
        found += [(_("Records aligned by"), _(METHODS[known["alignment"]])),
                  (_("Learning rates"), rates_text(known["learning_rates"]))]
    if "candidate" in known:
        found = [(_("Measured value"), _plain(known["candidate"])),
                 (_("Baseline value"), _plain(known.get("baseline"))),
                 (_("Difference to the baseline"),
                  _difference(verdict.criterion.definition.quantity, known)),
                 (_("Cards"), known.get("cards") or "--")]
        if text := _trimmed(verdict):
            found.insert(1, (_("Warm-up"), text))
    return [(label, "--" if value is None else str(value)) for label, value in found]


def trimmed(times: dict) -> str:
    """Of times per step: how many the mean leaves out, and what it is with them; empty where it
    leaves out none."""
    if not (n := times.get("warm_up_excluded")):
        return ""
    left_out = ngettext("the first %(n)d step left out", "the first %(n)d steps left out", n) % {
        "n": n}
    if (whole := times.get("mean_all")) is None:  # read before 1.2
        return left_out
    return _("%(left_out)s; %(mean)s ms with all") % {
        "left_out": left_out, "mean": f"{whole:.5g}"}


def _trimmed(verdict: Verdict) -> str:
    run = verdict.measurement
    if run is None or run.quantity != "iteration_time_ms":
        return ""
    values = run.artifact.readings.filter(kind="training_log").values_list("values", flat=True)
    return next((text for found in values
                 if (text := trimmed(found.get("iteration_time_ms") or {}))), "")


def rates_text(found: dict | None) -> str:
    if not found:
        return _("not printed by both logs: not compared")
    return _("%(differ)d of %(compared)d common records differ") % found


def _difference(quantity: str, known: dict) -> str:
    """Measured less baseline, and the same relative to the baseline; only one of them is judged.

    Shares, as most scores are, differ by percentage points.
    """
    try:
        measured, baseline = (Decimal(repr(known[side])) for side in ("candidate", "baseline"))
    except (KeyError, InvalidOperation):
        return "--"
    if not (measured.is_finite() and baseline.is_finite()):
        return "--"
    by = measured - baseline
    is_share = quantity.startswith("score") and max(abs(measured), abs(baseline)) <= 1
    text = f"{(100 * by).normalize():+f} pp" if is_share else f"{by.normalize():+f}"
    if not baseline:
        return text
    relative = figure_text(float(100 * by / abs(baseline)), 5)
    return _("%(difference)s; relative to the baseline %(relative)s %%") % {
        "difference": text, "relative": relative}


def _plain(value) -> str:
    return f"{Decimal(repr(value)).normalize():f}" if isinstance(value, (int, float)) else "--"


def _warning_texts() -> dict[str, str]:
    return {
        "step_base": _("One log counts from 0, the other from 1; the candidate's steps were "
                       "shifted."),
        "interval_meaning": _("The logs record different things (points or means of windows); "
                              "points were averaged where that was possible."),
        "interval_differs": _("The logs are written at different intervals; only steps that both "
                              "hold are compared."),
        "step_unit": _("The logs count different things (steps, epochs or samples)."),
        "loss_near_zero": _("The baseline's loss comes near zero: relative errors there say "
                            "little; look at the absolute error and the error of the means."),
        "few_points": _("Few common steps: agreed windows have 1,000 steps as a rule."),
        "steps_may_be_shifted": _("Moved by one record the curves fit far better: check how both "
                                  "tools number their steps."),
        "data_order_differs": _("The steps differ but the means hardly do: a different data order "
                                "or seed looks like this. Repeat both runs with the same data "
                                "order and seed."),
        "repeated_steps": _("Steps occur more than once in a log; the later record counts."),
        "nonfinite_loss": _("A log holds losses that are not finite."),
        "nonfinite_grad_norm": _("A log prints gradient norms that are not finite."),
        "zero_grad_norm": _("All gradient norms that a log prints are zero."),
        "hidden_nan": _("A log prints a number, usually 0.0, where the loss was NaN; such records "
                        "count as NaN."),
        "not_recorded": _("A log marks some steps as not recorded; they count as not finite."),
        "traceback": _("A log holds the traceback of an error."),
        "baseline_not_repeated": _("The baseline rests on fewer than three runs; its "
                                   "repeatability is not shown."),
        "steps_inferred": _("A log does not number its steps; they follow from its epochs and "
                            "totals."),
        "steps_unproven": _("A log does not say to which step its losses belong."),
        "steps_unknown": _("A log does not number its steps, and they do not follow from it."),
        "aligned_by_consumed_samples": _("The steps do not bring the logs together; the consumed "
                                         "samples do."),
        "aligned_by_consumed_tokens": _("The steps do not bring the logs together; the consumed "
                                        "tokens do."),
        "aligned_by_epoch_and_learning_rate": _(
            "The steps do not bring the logs together; epochs and learning rates, which agree "
            "record by record, do."),
        "records_mixed": _("A log mixes the losses of several processes or runs."),
        "several_runs": _("A log holds several runs; the last one counts."),
        "interleaved_ranks": _("Several ranks print losses; those of one rank count."),
        "abandoned_steps": _("Records that a resumption from an earlier step abandoned are left "
                             "out."),
    }


def origin(verdict: Verdict | None) -> str:
    """Whose run the judged file is, for what it was made and on which device, as the verdict
    keeps it; empty where an earlier release computed it or nothing was measured."""
    run = next(iter(verdict.facts.get("runs") or []), {}) if verdict else {}
    if "declared_by" not in run:
        return ""
    device = run["device"] or _("no record shows one")
    if run["declared_by"]:
        who = _("Declared by a person: %(who)s stored the file, no job of the desk made it.") % {
            "who": run["declared_by"]}
        device = run["device"] or _("as declared; no record shows one")
    elif run["made_by"]:
        who = _("Made by job #%(job)d.") % {"job": run["made_by"]}
    else:
        who = _("Made by a job of another engagement.")
    return following(who, _("Purpose: %(purpose)s; device: %(device)s.") % {
        "purpose": purpose_label(run["purpose"]), "device": device})


def purpose_label(purpose: str) -> str:
    """What a run was made for, in the active language."""
    return str(Purpose(purpose).label) if purpose else _("not declared")


def warnings(verdict: Verdict | None) -> list[dict]:
    """Warnings of the comparison, translated where the code is known."""
    texts = _warning_texts()
    found = verdict.facts.get("warnings", []) if verdict else []
    return [{"code": w["code"], "text": texts.get(w["code"], w["message"]),
             "detail": w["message"] if w["code"] in texts else ""} for w in found]
