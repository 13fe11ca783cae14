"""What each measured quantity is called on pages; in files and in the API the code stands alone."""

from django.utils.translation import gettext_lazy as _

from assessments.performance.gains import METRICS

WORDS = {
    **{metric.name: metric.label for metric in METRICS},
    "loss_curve": _("Training loss, step by step"), "score": _("Evaluation score"),
    "grad_norm_mean": _("Mean gradient norm"), "min_cosine": _("Smallest cosine similarity"),
    "weight_files": _("Weight files that are not empty"),
    "finite_steps": _("Finite losses (share of the recorded steps)"),
    "request_success": _("Answered requests (share)"),
    "changed_parameters": _("Changed parameters (share of tensors)"),
}


def quantity_label(quantity: str) -> str:
    """The quantity in the active language, its task in brackets; one without words as it stands.

    Args:
        quantity: as in `verdicts.quantities`, for example `latency_ms` or `score:gsm8k`.
    """
    name, _colon, task = quantity.partition(":")
    words = str(WORDS.get(name, name))
    return f"{words} ({task})" if task else words
