"""The filter of the portfolio in words, for its file."""

from django.utils.translation import gettext as _

from delivery.portal.portfolio.groups import GROUPS
from engagements.models import Engagement
from engagements.stages import Stage
from engagements.text.text_joining import in_turn, labelled


def asked_words(params) -> str:
    """What the rows were chosen and put in order by."""
    words = [labelled(label, value) for label, value in (
        (_("Search"), params.get("q", "").strip()),
        (_("State"), _label(Engagement.State, params.get("state"))),
        (_("Next gate"), _label(Stage, params.get("stage"))),
        (_("Owner"), params.get("owner")), (_("Sorted by"), params.get("sort")),
        (_("Grouped by"), str(GROUPS[params["group"]].label)
         if params.get("group") in GROUPS else "")) if value]
    words += [text for name, text in (("mine", _("Mine only")), ("late", _("Late only")))
              if params.get(name)]
    return in_turn(words) or _("all engagements")


def _label(choices, value) -> str:
    return str(choices(value).label) if value in choices.values else ""
