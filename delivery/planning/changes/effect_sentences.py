"""Effects of a change said in the active language, beside what somebody remarked on them.

Scope, schedule, price and criteria follow from the facts that both sides sign. Quality is stated
by people only.
"""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.quotes.templatetags.quotes import amount, signed
from engagements.text.text_joining import listed


def effect_sentences(facts: dict) -> dict[str, dict[str, str]]:
    """From presented facts: what is `said` of scope, schedule, price, quality and criteria, and
    the `remark` that somebody typed."""
    computed = {"scope": _scope(facts), "schedule": _schedule(facts["schedule"]),
                "price": _price(facts["price"]), "criteria": _criteria(facts["criteria"]["rows"])}
    sentences = {name: {"said": str(sentence), "remark": facts[name]["text"].strip()}
            for name, sentence in computed.items()}
    return {**sentences, "quality": {"said": facts["quality"]["text"].strip() or "--",
                                     "remark": ""}}


def _scope(facts: dict) -> str:
    moved = [f"{row['label']} {row['model']} {row['stage_label']}".strip()
             for row in facts["scope"]["effects"]]
    if facts["effort"]:
        moved.append(_("person-days %(days)s") % {"days": signed(facts["effort"]["days"])})
    return listed(moved) or _("none")


def _schedule(schedule: dict) -> str:
    said = []
    if "contract" in schedule:
        before, after = schedule["contract"]
        said.append(_("The contract ends on %(after)s (was %(before)s).") % {
            "after": after, "before": before or _("not agreed")})
    if schedule.get("tasks"):
        before, after = schedule["end"]
        said.append(_("The plan still ends on %(day)s.") % {"day": after} if before == after
                    else _("The plan ends on %(after)s (was %(before)s).") % {
                        "after": after, "before": before})
    elif days := schedule.get("quoted_days"):
        said.append(_("%(days)s person-days in the price move no date: they are of no stage whose "
                      "planned work is open. Give the tasks their new lengths in this change if "
                      "dates move.") % {
            "days": signed(days)})
    return "\n".join(said) or _("none")


def _price(price: dict) -> str:
    """The last total is the one including tax."""
    if not price["totals"]:
        return _("none")
    total = price["totals"][-1]
    return _("%(label)s: %(before)s → %(after)s (%(difference)s)") % {
        "label": total["label"], "before": amount(total["before"], price["symbol"]),
        "after": amount(total["after"], price["symbol"]),
        "difference": signed(total["difference"])}


def _criteria(rows: list[dict]) -> str:
    """How many come in, fall out and get another threshold."""
    come = sum(not row["before"] for row in rows)
    fall = sum(not row["after"] for row in rows)
    change = len(rows) - come - fall
    parts = (
        (come, ngettext("%(n)s criterion added", "%(n)s criteria added", come)),
        (fall, ngettext("%(n)s criterion removed", "%(n)s criteria removed", fall)),
        (change, ngettext("%(n)s threshold changes", "%(n)s thresholds change", change)))
    return listed(words % {"n": n} for n, words in parts if n) or _("none")
