"""The environment that was planned against what probes measured on the nodes used (DOMAIN 9.8).

Planned is what the record of planned versions holds, else what the survey's answers on the target
name: chip, cards, operating system, architecture, and the versions in the answer on driver,
firmware and CANN.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from assessments.labels.environments import item_label
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from delivery.reports.facts.survey_platform import versions_in
from delivery.surveys.answer_sheet import Sheet
from workers.models import Node, Purpose
from workers.runtimes import software

# Versions on which a migration rests: said also where nobody planned them.
ASKED = ("chip", "cards", "driver", "firmware", "cann", "torch", "torch_npu", "os", "arch")


@dataclass(frozen=True)
class Item:
    """One item: planned value, and value by node; "" where there is none.

    `is_surveyed`: the plan is what the survey names; nobody has recorded it as one.
    """

    name: str
    planned: str
    measured: dict[str, str]
    is_surveyed: bool = False

    @property
    def is_measured(self) -> bool:
        """On every node that was used."""
        return bool(self.measured) and all(self.measured.values())

    @property
    def differing(self) -> dict[str, str]:
        """Nodes whose value is another; an item that nobody planned differs from nothing."""
        agrees = AGREES.get(self.name, _is_same)
        return {node: value for node, value in self.measured.items()
                if self.planned and value and not agrees(self.planned, value)}


def _is_same(planned: str, measured: str) -> bool:
    return planned.casefold() == measured.casefold()


def _begins_alike(planned: str, measured: str) -> bool:
    """A family and a member of it: 910b and 910B3, x86 and x86_64."""
    return _letters(measured).startswith(_letters(planned))


def _is_within(planned: str, measured: str) -> bool:
    """An operating system is written in many ways: each word of the plan stands in what runs."""
    return all(word in measured.casefold() for word in planned.casefold().split())


def _letters(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.casefold().replace("ascend", ""))


AGREES: dict[str, Callable[[str, str], bool]] = {
    "chip": _begins_alike, "arch": _begins_alike, "os": _is_within}


def planned_and_measured(source: Source) -> list[Item]:
    """All items that were planned, and those that every plan should name."""
    recorded = dict(source.engagement.planned_versions.values_list("item", "value"))
    planned, nodes = {**planned_values(source.survey), **recorded}, _used_nodes(source)
    measured = {node.name: _measured(node) for node in nodes}
    if planned.get("cards") and len(nodes) > 1:  # are those of all nodes together
        total = sum(int(values["cards"] or 0) for values in measured.values())
        measured = {name: {**values, "cards": str(total)} for name, values in measured.items()}
    return [Item(name, planned.get(name, ""),
                 {node: values.get(name, "") for node, values in measured.items()},
                 is_surveyed=name in planned and name not in recorded)
            for name in dict.fromkeys([*ASKED, *planned])]


def planned_values(survey: Sheet | None) -> dict[str, str]:
    """Item and value as the survey's answers on the target name them."""
    if survey is None:
        return {}
    answers = {name: survey.value(name) for name in ("chip", "cards", "os", "arch")}
    return {**{name: str(value) for name, value in answers.items() if value not in (None, "")},
            **versions_in(str(survey.value("cann") or ""))}


def _used_nodes(source: Source) -> list[Node]:
    """Nodes on which the migration's own jobs ran, not those of the source platform."""
    jobs = source.engagement.jobs.exclude(node=None).exclude(purpose=Purpose.SOURCE)
    return list(Node.objects.filter(pk__in=jobs.values("node_id")).prefetch_related(
        "cards").order_by("name"))


def _measured(node: Node) -> dict[str, str]:
    return {**{name: str(value) for name, value in node.software.items() if value},
            "chip": software.chips_of(node),
            "cards": str(len(node.cards.all())) if node.has_read_cards else ""}


def planned_table(items: list[Item]) -> dict:
    """A row per item: planned, measured, and whether they agree."""
    rows = [[both(lambda i=item: item_label(i.name)),
             both(lambda i=item: _plan(i)), both(lambda i=item: _values(i)),
             both(lambda i=item: _result(i))] for item in items]
    return table(lambda: _("Environment: planned against measured"), [
        column(lambda: _("Environment item")), column(lambda: _("Planned")),
        column(lambda: _("Measured on the nodes")), column(lambda: _("Result"))], rows,
                 is_dense=True)


def _plan(item: Item) -> str:
    if item.is_surveyed:
        return _("%(value)s (survey)") % {"value": item.planned}
    return item.planned or _("not planned")


def _values(item: Item) -> str:
    values = dict.fromkeys(value for value in item.measured.values() if value)
    if len(values) < 2 and item.is_measured:
        return next(iter(values))
    return "\n".join(f"{node}: {value or _('not measured')}"
                     for node, value in item.measured.items()) or _("not measured")


def _result(item: Item) -> str:
    if item.differing:
        return _("differs")
    if not item.planned:
        return _("not planned")
    return _("agrees") if item.is_measured else _("not measured")
