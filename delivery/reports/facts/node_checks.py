"""Environments of the nodes as jobs found them (DOMAIN 2.2 env, 9.1)."""

from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.labels.environments import WORDS, item_label
from delivery.documents.bilingual import both, instant, named
from delivery.documents.tables.table import column, table
from delivery.reports.facts.planned_environment import Item
from delivery.reports.facts.run_records import kind_title
from delivery.reports.facts.source import Source
from delivery.reports.facts.survey_platform import OF_FRAMEWORK
from engagements.migration_routes import framework_of
from engagements.stages import Stage
from workers.models import Job, JobState, Node, StoredReading

# Versions that an environment report and a plan state, recorded or not (DOMAIN 9.7, 9.8).
MUST_BE_NAMED = ("driver", "firmware", "cann", "python", "os", "arch")


def must_be_named(source: Source) -> tuple[str, ...]:
    """The items that have to be recorded, by the frameworks of the engagement's models."""
    used = {framework_of(model.framework) for model in source.models}
    return (*MUST_BE_NAMED, *(item for framework, items in OF_FRAMEWORK.items()
                              if framework in used for item in items))


def nodes_of(source: Source) -> list[Node]:
    """Nodes on which jobs of the engagement ran."""
    ids = set(source.engagement.jobs.exclude(node=None).values_list("node_id", flat=True))
    return list(Node.objects.filter(pk__in=ids).prefetch_related("cards").order_by("name"))


def checks_of(source: Source) -> list[Job]:
    """The newest job of each kind and node in the stage of the environment."""
    newest: dict[tuple, Job] = {}
    for job in source.engagement.jobs.whole().filter(stage=Stage.ENV).exclude(
            node=None).select_related("node", "created_by", "agent").order_by("pk"):
        newest[job.kind, job.node_id] = job
    return list(newest.values())


def nodes(source: Source) -> dict:
    """Each node: chips, cards, operating system, architecture."""
    rows = []
    for node in nodes_of(source):
        chips = sorted({card.chip_name for card in node.cards.all() if card.chip_name})
        rows.append([node.name, ", ".join(chips), node.cards_total or len(node.cards.all()),
                     node.software.get("os", ""), node.software.get("arch", ""),
                     both(lambda n=node: _("Practice") if n.is_practice else _("genuine"))])
    return {**table(lambda: _("Nodes"), [
        column(lambda: _("Node"), "code"), column(lambda: _("Chip"), is_required=True),
        column(lambda: _("Cards"), "number", is_required=True),
        column(lambda: _("Operating system"), is_required=True), column(lambda: _("Architecture")),
        column(lambda: _("Kind of node"))], rows,
                    empty=lambda: _("No job has run on a node yet.")), "cure": _jobs(source)}


def versions(source: Source) -> dict:
    """Version of each part, by node."""
    found, asked = nodes_of(source), must_be_named(source)
    keys = [key for key in dict.fromkeys([*WORDS, *asked])
            if key in asked or any(node.software.get(key) for node in found)]
    keys += sorted({key for node in found for key in node.software} - {*WORDS, *asked})
    rows = [[both(lambda k=key: item_label(k)),
             *(str(node.software.get(key) or "") or both(lambda: _("not recorded"))
               for node in found)] for key in keys] if found else []
    return table(lambda: _("Versions"), [
        column(lambda: _("Environment item")),
        *(column(lambda n=node: n.name) for node in found)], rows,
                 empty=lambda: _("No version is recorded."))


def checks(source: Source) -> dict:
    """The newest run of each check with what it found."""
    rows = [[f"#{job.pk}", both(lambda k=job.kind: kind_title(k)), job.node.name,
             both(job.get_state_display), both(lambda j=job: j.sentence),
             named(job.created_by, job.agent), instant(job.finished_at)]
            for job in checks_of(source)]
    return {**table(lambda: _("Checks"), [
        column(lambda: _("Run"), "code"), column(lambda: _("Check")),
        column(lambda: _("Node")), column(lambda: _("State")),
        column(lambda: _("Found"), is_required=True), column(lambda: _("By")),
        column(lambda: _("Time"), "day", is_required=True)], rows,
                    empty=lambda: _("No check has run yet.")), "cure": _jobs(source)}


def cards(source: Source) -> dict:
    """Health, temperature, power and memory of each chip, by the newest npu-smi of each node."""
    rows = []
    for node, reading in _newest_smi(source).items():
        for chip in reading.values.get("chips") or []:
            total, used = chip.get("hbm_total_mb"), chip.get("hbm_used_mb")
            rows.append([node, f"{chip.get('npu')}-{chip.get('chip')}", chip.get("name") or "",
                         chip.get("health") or "", chip.get("temperature_c"), chip.get("power_w"),
                         "" if total is None else f"{used} / {total}"])
    return table(lambda: _("Cards as reported by npu-smi"), [
        column(lambda: _("Node")), column(lambda: _("Chip no."), "code"), column(lambda: _("Chip")),
        column(lambda: _("Health"), is_required=True),
        column(lambda: _("Temperature (°C)"), "number"),
        column(lambda: _("Power (W)"), "number"), column(lambda: _("HBM (MB)"), "number")], rows,
                 empty=lambda: _("No npu-smi output is stored."))


def _newest_smi(source: Source) -> dict[str, StoredReading]:
    readings = StoredReading.objects.filter(
        artifact__engagement=source.engagement, kind="npu_smi", artifact__job__node__isnull=False,
    ).select_related("artifact__job__node").order_by("pk")
    return {r.artifact.job.node.name: r for r in readings if r.values.get("chips")}


def readiness(source: Source, planned: list[Item]) -> dict:
    """Whether the environment is ready: every check succeeded, every chip is healthy, every version
    that a report names is recorded, and none is another than planned.

    `state` is passed, failed, not_provable where a version is not recorded or not as planned, or
    not_measured where nothing was checked.

    Args:
        planned: see `planned_environment.planned_and_measured`.
    """
    found = nodes_of(source)
    unrecorded = [key for key in must_be_named(source)
                  if not all(node.software.get(key) for node in found)]
    differing = [item.name for item in planned if item.differing]
    jobs = checks_of(source)
    bad = [job for job in jobs if job.state != JobState.SUCCEEDED]
    chips = [chip for reading in _newest_smi(source).values()
             for chip in reading.values["chips"]]
    ill = [chip for chip in chips if str(chip.get("health", "")).upper() != "OK"]
    state = ("not_measured" if not jobs else "failed" if bad or ill
             else "not_provable" if unrecorded or differing else "passed")
    return {"state": state, "checks": len(jobs), "failed": len(bad), "chips": len(chips),
            "unhealthy": len(ill),
            "unrecorded": [both(lambda k=key: item_label(k)) for key in unrecorded],
            "differing": [both(lambda k=key: item_label(k)) for key in differing]}


def raw_files(source: Source) -> list[dict]:
    """The evidence rows of the checks."""
    ids = {job.pk for job in checks_of(source)}
    return [row for row in source.evidence if row["job"] in ids]


def _jobs(source: Source) -> str:
    return f"{reverse('workers:jobs')}?engagement={source.engagement.code}"
