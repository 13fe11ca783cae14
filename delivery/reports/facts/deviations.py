"""Deviations of a delivery: what was examined for them, how much of it, and what was found.

"None" may stand only where everything was examined; what was not says so and why.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.accuracy.readings import newest_config_check
from assessments.labels.environments import item_label
from delivery.documents.bilingual import both, pair, same
from delivery.documents.tables.table import column, table
from delivery.planning.models import ProjectIssue
from delivery.reports.facts.environments import Sides, environment_pairs
from delivery.reports.facts.planned_environment import Item
from delivery.reports.facts.source import Source
from engagements.models import MigratedModel
from engagements.text.text_joining import listed
from workers.models import StoredReading

Text = Callable[[], str]
# Differ because the platform changes; every other difference is a deviation (DOMAIN 9.8).
BY_DESIGN = {"chip", "driver", "firmware", "cann", "cuda", "torch_npu", "gcc", "arch", "os"}
EXAMPLES = 5  # single findings named of one run


@dataclass(frozen=True)
class Examination:
    """One source of deviations.

    Args:
        title: what was examined.
        extent: how much of it there was.
        is_complete: False where something could not be examined.
        found: rows of model code, subject and remark.
    """

    title: Text
    extent: Text
    is_complete: bool
    found: list[tuple[str, dict, dict]]


def examinations(source: Source, departed: dict, sides: Sides, planned: list[Item]
                 ) -> list[Examination]:
    """Every source of deviations, in the order in which documents print them.

    Args:
        departed: waivers in force and omissions (see `waivers_and_omissions.departures`).
        sides: environments of source and target (see `environments.sides_of`).
        planned: see `planned_environment.planned_and_measured`.
    """
    return [_verdict_warnings(source), _published(source), _environments(sides), _planned(planned),
            _configuration(source), _dates(source), _waivers(departed), _open_issues(source)]


def rows(found: list[Examination]) -> list[dict]:
    """All deviations, as documents list them."""
    return [{"model": model, "name": name, "message": remark}
            for examination in found for model, name, remark in examination.found]


def examined_table(found: list[Examination]) -> dict:
    """What was examined, how much of it, and the number of deviations."""
    return table(lambda: _("What was examined for deviations"), [
        column(lambda: _("Examined")), column(lambda: _("Extent")),
        column(lambda: _("Deviations"))],
        [[both(entry.title), both(entry.extent), both(lambda e=entry: _number(e))]
         for entry in found], is_dense=True)


def _number(examination: Examination) -> str:
    """The number of findings; where not all was examined it is a lower bound or nothing."""
    if examination.is_complete:
        return f"{len(examination.found)}"
    return _("at least %(n)d") % {"n": len(examination.found)} if examination.found else _(
        "not fully examined")


def _verdict_warnings(source: Source) -> Examination:
    judged = [(criterion, verdict) for criterion, verdict in source.judged if verdict]
    found = [(criterion.model.code, _name(criterion), same(warning.get("message", "")))
             for criterion, verdict in judged for warning in verdict.facts.get("warnings") or []]
    counts = {"judged": len(judged), "all": len(source.judged)}
    return Examination(
        lambda: _("Warnings of the calculation"),
        lambda: _("%(judged)d of %(all)d criteria have a verdict") % counts,
        bool(judged) and len(judged) == len(source.judged), found)


def _published(source: Source) -> Examination:
    """Baselines in use that were taken from a publication."""
    used = {c.baseline.pk: c for c, _verdict in source.judged if c.baseline}
    found = [(c.model.code, _name(c), both(lambda b=c.baseline: listed(filter(None, (
        str(b.get_origin_display()), b.source)))))
             for c in used.values() if c.baseline.is_published]
    from_source = sum(bool(c.baseline.origin) for c in used.values())
    counts = {"stated": from_source, "all": len(used)}
    return Examination(
        lambda: _("Baselines: measured or published"),
        lambda: _("recorded for %(stated)d of %(all)d baselines in use") % counts,
        bool(used) and from_source == len(used), found)


def _name(criterion) -> dict[str, str]:
    return pair(criterion.definition.name, criterion.definition.name_en)


def _environments(sides: Sides) -> Examination:
    """Items recorded on both sides that differ and need not."""
    known, missing, answered, found = 0, 0, 0, []
    for model, item, before, after in environment_pairs(sides):
        if not (before and after):
            missing += 1
            continue
        known += 1
        answered += before.is_from_survey
        if before.text != after.text and item not in BY_DESIGN:
            found.append((model, both(lambda i=item: item_label(i)),
                          same(f"{before.text} → {after.text}")))
    counts = {"known": known, "missing": missing, "said": answered}
    return Examination(
        lambda: _("Environment: source against target"),
        lambda: _("%(known)d items compared, %(said)d of them with the source as stated in the "
                  "survey; %(missing)d not recorded on one side") % counts,
        known > 0 and not (missing or answered), found)


def _planned(items: list[Item]) -> Examination:
    """Items of the nodes used that are others than planned; each that was not measured or not
    planned leaves the examination open."""
    planned = [item for item in items if item.planned]
    found = [("–", both(lambda i=item: item_label(i.name)),
              both(lambda i=item, n=node, v=value: _("planned %(planned)s, measured %(value)s on "
                                                     "%(node)s") % {
                  "planned": i.planned, "value": v, "node": n}))
             for item in planned for node, value in item.differing.items()]
    counts = {"planned": len(planned), "all": len(items),
              "same": sum(item.is_measured and not item.differing for item in planned),
              "missing": sum(not item.is_measured for item in planned)}
    return Examination(
        lambda: _("Environment: planned against measured"),
        lambda: _("%(planned)d of %(all)d items planned: %(same)d agree, %(missing)d not measured "
                  "on every node") % counts,
        len(planned) == len(items) and not counts["missing"], found)


def _configuration(source: Source) -> Examination:
    """Newest configuration comparison per model: everything that is not equal."""
    newest = {model.pk: (model, reading) for model in source.models
              if (reading := newest_config_check(model))}
    found = [row for model, reading in newest.values() for row in _differences(model, reading)]
    trained = {criterion.model_id for criterion, _verdict in source.judged
               if criterion.definition.quantity == "loss_curve"}
    counts = {"compared": len(trained & set(newest)), "all": len(trained)}
    return Examination(
        lambda: _("Configuration of both runs (msprobe config_check)"),
        lambda: _("%(compared)d of %(all)d models judged by a curve were compared") % counts,
        trained <= set(newest), found)


def _differences(model: MigratedModel, reading: StoredReading) -> Iterator[tuple[str, dict, dict]]:
    """The differences of one comparison; many of them as a count with examples."""
    code, rows = model.code, reading.values.get("differences") or []
    for row in rows[:EXAMPLES]:
        yield (code, same(f"{row['sheet']}: {row['item']}"),
               same(f"{row.get('bench') or '–'} → {row.get('npu') or '–'} ({row['level']})"))
    if rest := len(rows[EXAMPLES:]):
        yield code, same(reading.artifact.name), both(lambda: ngettext(
            "%(n)d more difference in the raw file", "%(n)d more differences in the raw file",
            rest) % {"n": rest})
    if parts := reading.values.get("not_compared"):
        yield code, same(reading.artifact.name), both(
            lambda: _("not compared: %(parts)s") % {"parts": ", ".join(parts)})


def _dates(source: Source) -> Examination:
    """Work after the end that the contract sets."""
    ends_on, found = source.engagement.ends_on, []
    if ends_on and source.today > ends_on:
        found = [("–", both(lambda: _("End of the engagement")), both(
            lambda: _("ended on %(day)s, before this document") % {"day": f"{ends_on}"}))]
    return Examination(
        lambda: _("Dates of the contract"),
        lambda: f"{ends_on}" if ends_on else _("no end date is recorded"), bool(ends_on), found)


def _waivers(departed: dict) -> Examination:
    found = [(row["model"], row["name"], same(row["reason"])) for row in departed["waivers"]]
    found += [(row["model"], row["stage"], same(row["reason"]))
              for row in departed["stage_waivers"]]
    return Examination(lambda: _("Waivers in force"), lambda: _("all of the engagement"), True,
                       found)


def _open_issues(source: Source) -> Examination:
    rows = source.engagement.project_issues.filter(closed_on=None).select_related("model")
    found = [(row.model.code if row.model else "–",
              both(lambda r=row: f"I-{r.number:03} {ProjectIssue.Level(r.level).label}"),
              same(row.description)) for row in rows]
    total = source.engagement.project_issues.count()
    return Examination(
        lambda: _("Issues of the project"),
        lambda: ngettext("%(n)d recorded", "%(n)d recorded", total) % {"n": total}, True, found)
