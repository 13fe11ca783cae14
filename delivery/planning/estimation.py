"""Person-days from facts: pure rules, each line with its basis in words (DOMAIN 2.2, 9.11).

The starting days are the firm's own figures for one model of below a billion parameters; what
really happened corrects them (`calibration`), and a person may adjust every line with a reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext as _

from delivery.planning.effort_choices import DriverCode, Grade, WorkItem
from engagements.stages import Stage

STEP = Decimal("0.5")  # estimates are made in half-days, as timesheets are

# Per model: stage, item, grade, days (low, likely, high), whether the model's size counts.
PER_MODEL = [
    (Stage.SURVEY, WorkItem.SURVEY, Grade.EXPERT, (1, 2, 3), False),
    (Stage.DESIGN, WorkItem.DESIGN, Grade.EXPERT, (1, 1.5, 3), False),
    (Stage.ENV, WorkItem.ENV, Grade.ENGINEER, (0.5, 1, 2), False),
    (Stage.TRAIN_ADAPT, WorkItem.ADAPT, Grade.SENIOR, (3, 5, 8), True),
    (Stage.TRAIN_TUNE, WorkItem.ACCURACY, Grade.SENIOR, (3, 5, 10), True),
    (Stage.TRAIN_TUNE, WorkItem.PERFORMANCE, Grade.EXPERT, (2, 4, 8), True),
    (Stage.INFER_MIGRATE, WorkItem.CONVERT, Grade.ENGINEER, (2, 3, 5), True),
    (Stage.INFER_TUNE, WorkItem.SERVE, Grade.EXPERT, (2, 3, 6), True),
    (Stage.ACCEPT, WorkItem.TEST, Grade.JUNIOR, (1, 2, 3), False),
    (Stage.OPERATION, WorkItem.OPERATION, Grade.ENGINEER, (2, 4, 8), False),
]
PER_UNSUPPORTED_API = (Decimal("0.5"), Decimal(1), Decimal(2))
PER_FURTHER_SERVER = (Decimal(1), Decimal(2), Decimal(3))  # set-up beyond one 8-card server
CARDS_PER_SERVER = 8
MANAGEMENT_SHARE = Decimal("0.1")
SIZES = [(Decimal(100), Decimal(3)), (Decimal(10), Decimal(2)), (Decimal(1), Decimal("1.5"))]


# What a stated driver adds to an item: days (low, likely, high) for each one counted.
PER_DRIVER = {
    DriverCode.CUSTOM_OPS: (WorkItem.OPERATORS, (Decimal(1), Decimal(2), Decimal(4))),
    DriverCode.LIBRARIES: (WorkItem.ADAPT, (Decimal("0.5"), Decimal(1), Decimal(2))),
    DriverCode.SPECIAL_APIS: (WorkItem.ADAPT, (Decimal("0.5"), Decimal("0.5"), Decimal(1))),
    DriverCode.OWN_CODE: (WorkItem.ADAPT, (Decimal("0.5"), Decimal(1), Decimal(3))),
    DriverCode.DYNAMIC_SHAPE: (WorkItem.CONVERT, (Decimal("0.5"), Decimal(1), Decimal(2))),
    DriverCode.QUANTISATION: (WorkItem.SERVE, (Decimal(1), Decimal(2), Decimal(4))),
    DriverCode.OFFLINE: (WorkItem.ENV, (Decimal("0.5"), Decimal(1), Decimal(2))),
}


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a model: `unsupported_apis` is None where no analysis was read.

    `drivers` are amounts by DriverCode, as stated for example in the survey.
    """

    stages: frozenset[str]
    parameters_billion: Decimal | None = None
    unsupported_apis: int | None = None
    source: str = ""  # name of the file of the analysis
    cards: int = 0
    drivers: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """One line: days as (low, likely, high) and its basis as [code, values] pairs."""

    stage: str
    item: str
    grade: str
    days: tuple[Decimal, Decimal, Decimal]
    basis: list = field(default_factory=list)


@dataclass(frozen=True)
class History:
    """How actual days compared with estimates of an item type, over `samples` model stages."""

    ratio: Decimal
    samples: int


def half_days(value: Decimal) -> Decimal:
    """Rounded to half-days, half up."""
    return (Decimal(value) / STEP).quantize(Decimal(1), ROUND_HALF_UP) * STEP


def size_factor(parameters_billion: Decimal | None) -> Decimal:
    """1 below a billion parameters, then 1.5, 2 (from 10) and 3 (from 100)."""
    for limit, factor in SIZES:
        if parameters_billion is not None and parameters_billion >= limit:
            return factor
    return Decimal(1)


def model_lines(facts: ModelFacts, history: dict[str, History]) -> list[Line]:
    """All lines of one model; stages out of scope have none."""
    lines = [_model_line(facts, entry, history) for entry in PER_MODEL
             if entry[0] in facts.stages]
    operators = _operators_line(facts, history)
    return [*lines, operators] if operators else lines


def _size_basis(parameters_billion: Decimal | None, factor: Decimal) -> list:
    if parameters_billion is None:
        return ["size_unknown", {}]
    return ["size", {"size": f"{parameters_billion.normalize():f}", "factor": str(factor)}]


def _model_line(facts: ModelFacts, entry: tuple, history: dict[str, History]) -> Line:
    stage, item, grade, start, grows = entry
    days, basis = [Decimal(str(d)) for d in start], [["start", {"days": str(start[1])}]]
    factor = size_factor(facts.parameters_billion) if grows else Decimal(1)
    if grows:
        basis.append(_size_basis(facts.parameters_billion, factor))
    days = [d * factor for d in days]
    further = -(-facts.cards // CARDS_PER_SERVER) - 1
    if item == WorkItem.ENV and further > 0:
        days = [d + further * more for d, more in zip(days, PER_FURTHER_SERVER, strict=True)]
        basis.append(["servers", {"cards": facts.cards, "servers": further + 1}])
    if item == WorkItem.ADAPT and facts.unsupported_apis is None:
        basis.append(["not_analysed", {}])
    days, added = _driven(facts, item, days)
    basis += added
    return _corrected(Line(stage, item, grade, tuple(days), basis), history)


def _operators_line(facts: ModelFacts, history: dict[str, History]) -> Line | None:
    """Unsupported APIs of the training code and custom operators; None without either."""
    count = facts.unsupported_apis if Stage.TRAIN_ADAPT in facts.stages else None
    days = [(count or 0) * each for each in PER_UNSUPPORTED_API]
    basis = [["apis", {"count": count, "file": facts.source}]] if count else []
    days, added = _driven(facts, WorkItem.OPERATORS, days)
    stage = next((s for s in (Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE) if s in facts.stages), None)
    if stage is None or not (basis or added):
        return None
    return _corrected(
        Line(stage, WorkItem.OPERATORS, Grade.EXPERT, tuple(days), [*basis, *added]), history)


def _driven(facts: ModelFacts, item: str, days: list[Decimal]) -> tuple[list[Decimal], list]:
    """The days with what the stated drivers of this item add, and a reason for each driver."""
    basis = []
    for code, (of_item, each) in PER_DRIVER.items():
        amount = facts.drivers.get(code)
        if amount and of_item == item:
            days = [d + amount * more for d, more in zip(days, each, strict=True)]
            basis.append(["driver", {"driver": code.value, "amount": f"{amount.normalize():f}",
                                     "days": f"{(amount * each[1]).normalize():f}"}])
    return days, basis


def _corrected(line: Line, history: dict[str, History]) -> Line:
    """The line times what experience says of its item type, in half-days."""
    known = history.get(line.item)
    basis, ratio = line.basis, Decimal(1)
    if known:
        ratio = known.ratio
        basis = [*basis, ["history", {"ratio": f"{ratio:f}", "samples": known.samples}]]
    days = tuple(max(STEP, half_days(d * ratio)) for d in line.days)
    return Line(line.stage, line.item, line.grade, days, basis)


def management_line(lines: list[Line]) -> Line:
    """Project management as a share of all other days."""
    sums = [sum((line.days[n] for line in lines), Decimal(0)) for n in range(3)]
    days = tuple(max(STEP, half_days(total * MANAGEMENT_SHARE)) for total in sums)
    return Line(Stage.DESIGN, WorkItem.MANAGEMENT, Grade.MANAGER, days,
                [["share", {"percent": f"{MANAGEMENT_SHARE * 100:f}", "days": f"{sums[1]:f}"}]])


def basis_sentence(code: str, values: dict) -> str:
    """One reason of a line's days in the active language."""
    sentences = {
        "start": _("Starting value %(days)s days."),
        "size": _("%(size)s billion parameters: × %(factor)s."),
        "size_unknown": _("Size of the model unknown: × 1."),
        "servers": _("%(cards)s cards on %(servers)s servers."),
        "not_analysed": _("No API analysis was read yet: unsupported APIs are not in it."),
        "apis": _("%(count)s different unsupported APIs in %(file)s."),
        "history": _("Experience: × %(ratio)s over %(samples)s finished model stages."),
        "share": _("%(percent)s %% of %(days)s days."),
        "manual": _("Added manually."),
        "driver": _("%(driver)s (%(amount)s): + %(days)s days."),
    }
    if code == "driver":
        values = {**values, "driver": DriverCode(values["driver"]).label}
    return sentences[code] % values
