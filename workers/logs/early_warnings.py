"""Early warnings from a training log that still grows: NaN, a spike of the loss, silence."""

import math
import re
from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from workers.models import Job

LOSS = re.compile(
    rb"(?:lm loss|(?<![\w.])(?:train_)?loss)['\"]?\s*[:=]\s*"
    rb"([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf))", re.IGNORECASE)
SPIKE = 3.0  # times the last loss
SILENCE = timedelta(minutes=10)

TEXTS = {
    "loss_not_finite": _("The loss is not a finite number."),
    "loss_spike": _("The loss has risen to more than three times its last value."),
    "silent": _("Nothing has been written to the log for ten minutes."),
}


def losses(chunk: bytes) -> list[float]:
    """Losses in the order of the log; NaN and infinities are kept."""
    return [float(text) for text in LOSS.findall(chunk)]


def found(job: Job, chunk: bytes) -> dict:
    """The column `alarms` with what this part of the log adds, if it adds anything."""
    codes = set(job.alarms)
    last = job.last_loss
    for loss in losses(chunk):
        if not math.isfinite(loss):
            codes.add("loss_not_finite")
            continue
        if last and last > 0 and loss > SPIKE * last:
            codes.add("loss_spike")
        last = loss
    return {} if codes == set(job.alarms) else {"alarms": sorted(codes)}


def of(job: Job, now: datetime) -> list[str]:
    """The job's warnings as sentences in the active language."""
    codes = list(job.alarms)
    quiet_since = job.log_grew_at or job.started_at
    if job.state == "running" and quiet_since and now - quiet_since > SILENCE:
        codes.append("silent")
    return [str(TEXTS[code]) for code in codes]
