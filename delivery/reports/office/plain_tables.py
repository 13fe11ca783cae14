"""What templates set in a form of their own, as plain tables for workbooks and Word files.

Every function takes the facts in one language, with that language active, and gives tables as
`tables.table` describes them.
"""

from collections.abc import Iterable, Iterator

from django.utils.formats import localize
from django.utils.translation import gettext as _

from engagements.text.text_joining import in_turn

AWAY = "…"


def sheets(facts: dict) -> list[dict]:
    """All tables of a workbook: those of the facts, and what else the document says in rows."""
    more = [make(facts) for key, make in (("issues", unpassed), ("definitions", definitions))
            if key in facts]
    return [*facts["tables"].values(), *more]


def unpassed(facts: dict) -> dict:
    """The criteria that are not passed; none is said in words."""
    return plain_table(_("Criteria that are not passed"), [
        (_("Number"), "code"), (_("Model"), "code"), (_("Metric"), "text"),
        (_("Description"), "text"), (_("Verdict"), "text")],
        [(row["number"], row["model"], row["name"], row["text"], row["label"])
         for row in facts["issues"]],
        _("Every agreed criterion is passed.") if facts["metrics"] else _("There is no criterion."))


def definitions(facts: dict) -> dict:
    """The metric definitions, one row each."""
    return plain_table(_("Metric definitions"), [
        (_("Metric"), "text"), (_("Code"), "text"), (_("Calculator"), "text"),
        (_("Formula"), "text"), (_("Alignment"), "text"), (_("Comparison"), "text"),
        (_("Window"), "text"), (_("Value taken"), "text"), (_("Source"), "text")],
                  [(f"{d['name']} V{d['version']}", d["code"], d["calculator"], d["formula"],
                    d["alignment"], f"{d['comparison']} {_('threshold, on the unrounded figure')}",
                    _window(d), d["selection"], d["source"]) for d in facts["definitions"]],
                  _("There is no criterion."))


def _window(definition: dict) -> str:
    """Which steps of a curve count, and how many there must be."""
    if not definition["is_of_curves"]:
        return ""
    first, last = definition["first_step"], definition["last_step"]
    steps = (f"{first or AWAY} – {last or AWAY}" if first or last else _("all common steps"))
    return in_turn((
        steps, f"ε = {localize(definition['epsilon'])}",
        f"{_('minimum coverage')} {localize(definition['minimum_coverage'])}",
        f"{_('minimum common points')} {definition['minimum_points']}"))


def departures(facts: dict) -> Iterator[dict]:
    """Waivers, stages out of scope and dropped models; nothing of what there is none of."""
    found = facts["departures"]
    made = (
        plain_table(_("Stages let through with a waiver"), [
            (_("Number"), "code"), (_("Model"), "code"), (_("Stage"), "text"),
            (_("Checks not met"), "text"), (_("Reason"), "text"), (_("Signed by"), "text")],
               [(row["number"], row["model"], row["stage"],
                 in_turn(row["checks"]), row["reason"],
                 f"{row['signed_by']} {row['signed_at']}") for row in found["stage_waivers"]]),
        plain_table(_("Failed verdicts waived for a stage"), [
            (_("Model"), "code"), (_("Metric"), "text"), (_("Reason"), "text"),
            (_("Scope"), "text"), (_("Valid until"), "day"), (_("Signed by"), "text")],
               [(row["model"], row["name"], row["reason"], row["scope"], row["expires_on"],
                 row["signed_by"]) for row in found["waivers"]]),
        plain_table(_("Waived by the customer: held up the final acceptance"), [
            (_("Waiver"), "code"), (_("Lets pass"), "text"), (_("Reason"), "text"),
            (_("Signed"), "text")],
               [(row["number"], in_turn(row["blockers"]), row["reason"],
                 f"{row['signed_by']} {row['signed_at']}")
                for row in found.get("blocker_waivers", ())]),
        plain_table(_("Stages out of scope"), [
            (_("Model"), "code"), (_("Stage"), "text"), (_("Reason"), "text"),
            (_("By"), "text"), (_("Time"), "text")],
               [(row["model"], row["stage"], row["reason"], row["by"], row["at"])
                for row in found["skipped"]]),
        plain_table(_("Models dropped from the project"), [
            (_("Model"), "code"), (_("Name"), "text"), (_("Reason"), "text"),
            (_("Time"), "text")],
               [(row["model"], row["name"], row["reason"], row["at"])
                for row in found["dropped"]]))
    return (entry for entry in made if entry["rows"])


def plain_table(caption: str, columns: Iterable[tuple[str, str]], rows: Iterable[tuple],
           empty: str = "") -> dict:
    return {"caption": caption, "rows": [[str(cell) for cell in row] for row in rows],
            "columns": [{"title": title, "look": look} for title, look in columns],
            "empty": empty}
