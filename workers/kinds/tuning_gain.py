"""What a tuning with AOE gained, of an offline model or of a training."""

from django.utils.translation import gettext_noop

from workers.kinds.judgement import Judgement


def gained(report: dict) -> Judgement:
    """What a tuning that AOE calls successful brought: a model that is slower is no success."""
    gain = report["improvement"]
    if gain is None:
        return Judgement(True, gettext_noop(
            "The tuning succeeded; its report states no times of the whole model."))
    facts = {"base": report["baseline_ms"], "tuned": report["result_ms"],
             "gain": f"{100 * abs(gain):.1f}"}
    if gain < 0:
        return Judgement(False, gettext_noop(
            "Slower after the tuning: %(base)s ms before, %(tuned)s ms after, %(gain)s %% more."),
            facts, {**facts, "is_slower": True})
    if not gain:
        return Judgement(True, gettext_noop(
            "The tuning brought nothing: %(base)s ms before, %(tuned)s ms after."), facts, facts)
    return Judgement(True, gettext_noop(
        "%(base)s ms before, %(tuned)s ms after the tuning, %(gain)s %% less."), facts, facts)
