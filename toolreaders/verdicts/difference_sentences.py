"""What two curves differ in, as sentences: message ids with their values."""

from collections.abc import Callable, Iterator
from typing import Any

from toolreaders.curves.differences import Finding
from toolreaders.curves.matching import EPOCHS, STEP
from toolreaders.sentences import gettext_noop
from toolreaders.training.run_conditions import SAMPLES, TOKENS

Message = tuple[str, dict[str, Any]]
LEAST_SHOWN = 1e-5  # of a deviation; below it are the printed digits
NEAR = 0.005  # a ratio so close to a whole number is taken for one
METHODS = {STEP: gettext_noop("step number"), SAMPLES: gettext_noop("consumed samples"),
           TOKENS: gettext_noop("consumed tokens"),
           EPOCHS: gettext_noop("epoch and learning rate, which agree record by record")}
LOGS = {"baseline": gettext_noop("The baseline"), "candidate": gettext_noop("The candidate")}
CONDITIONS = {
    "learning_rates_differ": gettext_noop(
        "The two runs do not train alike: their learning rates differ at %(points)s of %(of)s "
        "common records, first at step %(step)s (baseline %(baseline)s, candidate %(candidate)s)."),
    "learning_rates_moved": gettext_noop(
        "The learning rates agree when moved by one record: one log prints them before the update, "
        "the other after it, or one schedule runs a step ahead (step %(step)s: baseline "
        "%(baseline)s, candidate %(candidate)s)."),
    "global_batch_size_differs": gettext_noop(
        "The two runs do not train alike: the global batch size is %(baseline)s in the baseline "
        "and %(candidate)s in the candidate."),
    "sequence_length_differs": gettext_noop(
        "The two runs do not train alike: the sequence length is %(baseline)s in the baseline and "
        "%(candidate)s in the candidate."),
    "accumulation_steps_differs": gettext_noop(
        "Gradients are accumulated over %(baseline)s steps in the baseline and %(candidate)s in "
        "the candidate: the loss is comparable only if it is averaged over them."),
    "consumed_samples_differ": gettext_noop(
        "The two runs do not train alike: at step %(step)s the baseline has consumed %(baseline)s "
        "samples, the candidate %(candidate)s."),
    "consumed_tokens_differ": gettext_noop(
        "The two runs do not train alike: at step %(step)s the baseline has consumed %(baseline)s "
        "tokens, the candidate %(candidate)s."),
    "band_kept": gettext_noop(
        "The candidate stays in the band of the baseline's %(runs)s runs: it is nowhere outside it "
        "by more than its width for %(stretch)s records in a row."),
    "band_left": gettext_noop(
        "The candidate leaves the band of the baseline's %(runs)s runs at step %(step)s, by more "
        "than its width for at least %(stretch)s records in a row, and does not come back."),
    "band_left_and_back": gettext_noop(
        "The candidate leaves the band of the baseline's %(runs)s runs at step %(step)s, by more "
        "than its width for at least %(stretch)s records in a row, and is back from step %(back)s "
        "on."),
}
"""Said beside every verdict, whatever it is."""
OTHERS = {
    "constant_ratio": gettext_noop(
        "The candidate's loss is %(ratio)s times the baseline's (± %(deviation)s) at all "
        "%(points)s common records: a constant ratio."),
    "constant_offset": gettext_noop(
        "The candidate's loss is the baseline's %(offset)s (± %(deviation)s) at all %(points)s "
        "common records: a constant offset. Usual causes: a further term of the loss (auxiliary, "
        "z-loss, regularisation) that one run lacks or does not print, or other label smoothing."),
    "zero_norms": gettext_noop(
        "%(log)s prints a gradient norm of 0 in all %(points)s records: nothing shows that a "
        "weight was changed."),
    "nonfinite_norms": gettext_noop(
        "%(log)s prints gradient norms that are not finite in %(points)s of %(of)s records."),
    "norms_grow": gettext_noop(
        "The candidate's gradient norms grow from %(first)s to %(last)s (medians of the second and "
        "the last tenth of the records), the baseline's do not: the training becomes unstable."),
    "loss_scale_falls": gettext_noop(
        "The candidate's loss scale is halved again and again: %(points)s times from step %(step)s "
        "to step %(last_step)s, from %(first)s to %(last)s (baseline: %(baseline)s times). Its "
        "gradients overflow in half precision: look for the operator that overflows, or train in "
        "bfloat16."),
}
SUMMED = {
    "candidate": gettext_noop(
        "Usual cause: the candidate sums the loss over %(n)s accumulation steps or ranks instead "
        "of averaging it."),
    "baseline": gettext_noop(
        "Usual cause: the baseline sums the loss over %(n)s accumulation steps or ranks instead of "
        "averaging it."),
    "": gettext_noop(
        "Usual cause: another reduction of the loss (sum or mean, per token or per sequence, over "
        "accumulation steps or ranks), a weight of the loss or other label smoothing."),
}
SAME_NORMS = gettext_noop(
    "The gradient norms stand in the same ratio: the gradients are scaled too, not only what is "
    "printed.")
EQUAL_NORMS = gettext_noop("The gradient norms agree: only the printed loss is scaled.")
FIRST = {
    STEP: gettext_noop(
        "The first record that differs by more than %(tolerance)s is that of step %(step)s: "
        "baseline %(baseline)s, candidate %(candidate)s, %(error)s apart."),
    "": gettext_noop(
        "The first record that differs by more than %(tolerance)s is the baseline's record "
        "%(step)s: baseline %(baseline)s, candidate %(candidate)s, %(error)s apart."),
}
IDENTICAL = gettext_noop(
    "Common records before it that are identical as printed: %(identical)s.")
PLACES = {
    "first_record": gettext_noop(
        "It is the first record of both logs, before any update: the initial weights, the data or "
        "the forward pass differ. Compare checkpoint, seed, order of the data, dropout and "
        "precision, then dump the forward pass of this step."),
    "first_window": gettext_noop(
        "It is the first record of both logs but may stand for several steps: log every step to "
        "tell whether weights, data and forward pass differ or what the first updates did."),
    "first_common": gettext_noop(
        "It is the first record that both logs hold, but not the first of both: log both runs from "
        "the same step on to see where they part."),
    "update": gettext_noop(
        "Forward pass, data and initial weights agree; the difference comes in with the first "
        "updates: compare gradients, optimizer, its state and clipping."),
    "resumed": gettext_noop(
        "A run was resumed just before: compare what the checkpoint restores (optimizer, learning "
        "rate, random state, position in the data)."),
    "skipped": gettext_noop(
        "Just before it a record is missing or a gradient norm is not finite: one run skipped an "
        "update that the other made."),
    "loss_scale": gettext_noop("The loss scale changes just before it: compare overflows."),
    "learning_rate": gettext_noop(
        "The schedule of the learning rate turns just before it: compare the schedules."),
    "later": gettext_noop(
        "The logs show no resumption, skipped update, change of the loss scale or turn of the "
        "learning rate there, as far as they print them: the difference grew with the updates."),
}


def difference_sentence(finding: Finding, translate: Callable[[str], str] = str) -> str:
    """A finding in words; ``translate`` finds message ids in a catalogue."""
    def text(value: Any) -> str:
        return translate(value) if value in LOGS.values() else str(value)

    return joined(translate(message) % {key: text(value) for key, value in values.items()}
                  for message, values in _messages(finding))


def joined(sentences: Iterator[str] | list[str]) -> str:
    """Sentences behind each other; Chinese ones without a space."""
    found = ""
    for sentence in sentences:
        found += sentence if not found or found.endswith("。") else f" {sentence}"
    return found


def is_condition(finding: Finding) -> bool:
    """Whether it says under what conditions the verdict stands, and not why the curves differ."""
    return finding["code"] in CONDITIONS


def _messages(finding: Finding) -> Iterator[Message]:
    code, values = finding["code"], {
        key: f"{value:.6g}" if isinstance(value, float) else value
        for key, value in finding.items()}
    if code == "first_difference":
        yield from _first(finding, values)
        return
    if code == "constant_offset":
        values["offset"] = f"{finding['offset']:+.4g}"
    if code == "constant_ratio":
        values |= {"ratio": _ratio(finding["ratio"]),
                   "deviation": _percent(max(finding["deviation"], LEAST_SHOWN))}
    if "log" in values:
        values["log"] = LOGS[values["log"]]
    yield {**CONDITIONS, **OTHERS}[code], values
    if code == "constant_ratio":
        yield from _cause(finding["ratio"], finding["norm_ratio"])


def _cause(ratio: float, norm_ratio: float | None) -> Iterator[Message]:
    side = "candidate" if ratio > 1 else "baseline"
    times = ratio if ratio > 1 else 1 / ratio
    is_whole = round(times) > 1 and abs(times / round(times) - 1) < NEAR
    yield SUMMED[side if is_whole else ""], {"n": round(times)}
    if norm_ratio and abs(norm_ratio / ratio - 1) < NEAR:
        yield SAME_NORMS, {}
    elif norm_ratio and abs(norm_ratio - 1) < NEAR:
        yield EQUAL_NORMS, {}


def _first(finding: Finding, values: dict[str, Any]) -> Iterator[Message]:
    shown = "{:.6g}".format if finding["is_absolute"] else _percent
    values |= {"tolerance": shown(finding["tolerance"]), "error": shown(finding["error"])}
    yield FIRST["" if finding["method"] != STEP else STEP], values
    if 0 < finding["identical"] == finding["before"]:
        yield IDENTICAL, values
    yield PLACES[finding["place"]], values


def _ratio(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 else f"{value:.4g}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if fraction < 1e-3 else f"{100 * fraction:.4g} %"
