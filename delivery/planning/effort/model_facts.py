"""What the database knows of a model that its effort depends on."""

from django.db.models import Max

from delivery.planning.estimation import ModelFacts
from delivery.planning.models import DriverCode
from engagements.models import MigratedModel
from engagements.stages import StageState
from workers.models import StoredReading
from workers.services.scans import KIND

TABLES_OF_UNSUPPORTED = ("unsupported_api", "unknown_api", "cuda_op_list")
SCANNED_AS_UNSUPPORTED = ("unsupported_api", "cuda_extension", "cuda_kernel")


def model_facts(model: MigratedModel) -> ModelFacts:
    """Stages in scope, size, cards, stated drivers, and the newest API analysis.

    The cards are those of the model's facts, of the largest job or those stated, whichever are
    more.
    """
    stages = model.stages.exclude(state=StageState.SKIPPED).values_list("stage", flat=True)
    count, source = unsupported_apis(model)
    drivers = dict(model.effort_drivers.values_list("code", "amount"))
    answered = int(drivers.pop(DriverCode.CARDS, 0))
    return ModelFacts(
        stages=frozenset(stages), parameters_billion=model.parameters_billion,
        unsupported_apis=count, source=source,
        cards=max(answered, model.cards or 0,
                  model.jobs.aggregate(most=Max("cards_wanted"))["most"] or 0),
        drivers=drivers)


def unsupported_apis(model: MigratedModel) -> tuple[int | None, str]:
    """(number of different unsupported or unknown APIs, file names); None without an analysis.

    The newest reading of each table counts, so that a repeated analysis is not added up. Where
    the tool has not analysed the model, the newest scan of its uploaded source counts.
    """
    newest: dict[str, StoredReading] = {}
    for reading in StoredReading.objects.filter(
            artifact__model=model, kind__in=["migration_analysis", "tf_conversion"]
            ).select_related("artifact").order_by("pk"):
        table = _table(reading)
        if table:
            newest[table] = reading
    if not newest:
        return _scanned(model)
    total = sum(_count(reading.values) for reading in newest.values())
    return total, ", ".join(sorted({r.artifact.name for r in newest.values()}))


def _scanned(model: MigratedModel) -> tuple[int | None, str]:
    """Different APIs and native operators without an NPU counterpart in the newest scan."""
    scan = StoredReading.objects.filter(
        artifact__model=model, kind=KIND).select_related("artifact").order_by("-pk").first()
    if scan is None:
        return None, ""
    names = {finding["note"] or finding["snippet"] or finding["file"]
             for finding in scan.values.get("findings", [])
             if finding["check"] in SCANNED_AS_UNSUPPORTED}
    return len(names), scan.artifact.name


def _table(reading: StoredReading) -> str:
    if reading.kind == "tf_conversion":
        return "tf" if "unsupported" in reading.values else ""
    table = reading.values.get("table")
    return table if table in TABLES_OF_UNSUPPORTED else ""


def _count(values: dict) -> int:
    if "unsupported" in values:
        return int(values["unsupported"] or 0)
    return len(values.get("apis") or {}) or int(values.get("rows") or 0)
