"""What a document on verdicts concludes, in words that go no further than what was agreed."""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.models import Outcome
from engagements.text.text_joining import following, in_turn

MOST_WORSE = 3  # figures named in the conclusion; the tables have every one


def conclusion_sentence(facts: dict) -> str:
    """The conclusion in the active language: what is proved, then what is not and what is worse.

    Args:
        facts: of a snapshot, in one language. One of before coverage was counted has none of it.
    """
    return following(_proved(facts), _not_proved(facts), _worse(facts))


def waived_sentences(facts: dict) -> list[str]:
    """What the customer let pass by signed waivers, a sentence for each; a snapshot of
    before they were printed names none."""
    return [_("By waiver %(number)s, signed by %(who)s on %(at)s, the customer lets pass what "
              "would hold up an unconditional acceptance: %(blockers)s. Reason: %(reason)s") % {
                  "number": row["number"], "who": row["signed_by"], "at": row["signed_at"],
                  "blockers": in_turn(row["blockers"]), "reason": row["reason"]}
            for row in (facts.get("departures") or {}).get("blocker_waivers") or ()]


def _not_proved(facts: dict) -> str:
    """What verdicts leave open; empty where that is nothing, or an older snapshot does not say."""
    parts = list(_open_parts(facts)) if "environment_cells" in facts else []
    return _("Not proved: %(parts)s.") % {"parts": in_turn(parts)} if parts else ""


def _open_parts(facts: dict) -> Iterator[str]:
    known, premises = facts["environment_cells"], facts["conditions"]
    for side, text in (
            ("target", lambda: _("%(n)d of %(all)d items of the target's environment are not "
                                 "recorded")),
            ("source", lambda: _("%(n)d of %(all)d items of the source's environment are recorded "
                                 "by no file or probe"))):
        if known.get(side):
            yield text() % {"n": known[side], "all": known["all"]}
    if premises["proven"] != premises["all"]:
        yield _("%(n)d of %(all)d conditions of the compared curves are not shown to hold, "
                "%(differs)d of them differ") % {
            "n": premises["all"] - premises["proven"], "all": premises["all"],
            "differs": premises["differs"]}
    single = sum(row.get("runs_judged") == 1 for row in facts["metrics"])
    if single:
        yield ngettext("how far figures scatter: %(n)d criterion is judged on one run",
                       "how far figures scatter: %(n)d criteria are judged on one run each",
                       single) % {"n": single}


def _worse(facts: dict) -> str:
    found = facts.get("worse") or []
    texts = {"source": lambda: _("%(model)s %(figure)s, by %(by)s against the source"),
             "before": lambda: _("%(model)s %(figure)s, by %(by)s against the run before")}
    named = [texts[row["against"]]() % {"model": row["model"], "figure": row["name"],
                                        "by": row["by"]} for row in found[:MOST_WORSE]]
    if (rest := len(found) - MOST_WORSE) > 0:
        named.append(ngettext("%(n)d more", "%(n)d more", rest) % {"n": rest})
    return _("Worse: %(figures)s.") % {"figures": in_turn(named)} if named else ""


def _proved(facts: dict) -> str:
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
