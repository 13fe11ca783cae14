"""What a document on verdicts concludes, in words that go no further than what was agreed."""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.models import Outcome


def conclusion_sentence(facts: dict) -> str:
    """The conclusion in the active language.

    Args:
        facts: of a snapshot, in one language. One of before coverage was counted has none of it.
    """
    if facts["conclusion"] == "failed":
        return _("At least one criterion has failed.")
    if facts["conclusion"] != Outcome.PASSED:
        return _("Not every criterion is proven.")
    coverage = facts.get("coverage") or {}
    if coverage and coverage["agreed"] == coverage["all"]:
        return _("All criteria are passed.")
    passed = facts["summary"]["passed"]
    if not coverage:
        return ngettext("The %(n)d agreed criterion is passed.",
                        "The %(n)d agreed criteria are passed.", passed) % {"n": passed}
    return ngettext(
        "The %(n)d agreed criterion is passed; of %(all)d aspects that the models' routes ask for "
        "%(open)d have no criterion.",
        "The %(n)d agreed criteria are passed; of %(all)d aspects that the models' routes ask for "
        "%(open)d have no criterion.", passed) % {
            "n": passed, "all": coverage["all"], "open": coverage["all"] - coverage["agreed"]}


def improvements(facts: dict, places: dict[str, str]) -> Iterator[str]:
    """What the results call for, in the active language.

    Args:
        places: numbers of chapters by their ids.
    """
    chapter = {"n": places.get("evaluation", "")}
    if facts["issues"]:
        yield _("Close the outstanding issues of chapter %(n)s and measure again under the same "
                "definitions.") % chapter
    if facts.get("open_points"):
        yield _("Settle what chapter %(n)s lists before an unconditional acceptance.") % chapter
    if facts.get("deviations"):
        yield _("Examine the deviations of chapter %(n)s, and accept or remove each.") % chapter
    coverage, conditions = facts.get("coverage") or {}, facts.get("conditions") or {}
    if coverage.get("agreed") != coverage.get("all"):
        yield _("Agree criteria for the aspects that have none, or record that none is wanted.")
    if conditions.get("proven") != conditions.get("all"):
        yield _("Record what proves the conditions of the compared curves.")
    if facts.get("unrecorded"):
        yield _("Record the environment of both sides as far as it is missing.")
