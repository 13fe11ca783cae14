"""How far the practice scenario is, in words."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.demo.sample_firm import PLAYED
from delivery.demo.step_memory import progress
from engagements.models.engagement import localized

STEPS = {
    "set_up": gettext_lazy("team, plan and risks"), "survey": gettext_lazy("survey"),
    "offer": gettext_lazy("quote"), "order": gettext_lazy("customer's order"),
    "criteria": gettext_lazy("baseline and criteria"),
    "environment": gettext_lazy("environment preparation"),
    "adaptation": gettext_lazy("training adaptation"),
    "tuning": gettext_lazy("training tuning"), "failing_tuning": gettext_lazy("training tuning"),
    "inference": gettext_lazy("inference migration and tuning"),
    "report": gettext_lazy("test report"), "acceptance": gettext_lazy("acceptance"),
}
NAMES = {spec.code: spec for spec in PLAYED}


@dataclass(frozen=True)
class Banner:
    """The sentence, parts done of all, and whether something is wrong."""

    sentence: str
    done: int
    total: int
    is_stopped: bool


def banner() -> Banner | None:
    """What the banner shows in the active language; None where no scenario runs."""
    facts = progress()
    if not facts:
        return None
    if facts["trouble"]:
        sentence = _("Creating the practice data was interrupted: %(why)s. The next start "
                     "continues from here.") % {"why": facts["trouble"]}
        return Banner(sentence, facts["done"], facts["total"], True)
    spec = NAMES[facts["engagement"]]
    sentence = _("Creating practice data: %(engagement)s, %(step)s.") % {
        "engagement": f"{spec.code} {localized(spec.name, spec.name_en)}",
        "step": STEPS[facts["step"]]}
    return Banner(sentence, facts["done"], facts["total"], False)
