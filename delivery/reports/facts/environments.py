"""Source and target environment of what was judged, item by item (DOMAIN 9.8, AR-05)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.labels.environments import WORDS, item_label, item_name
from assessments.models import Criterion, Verdict
from assessments.verdicts.run_settings import recorded_settings
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.run_records import Judged
from delivery.reports.facts.survey_platform import platform_answers, versions_in
from delivery.surveys.answer_sheet import Sheet
from engagements.models import MigratedModel
from engagements.remembered_reads import remembered
from engagements.stages import Stage
from engagements.text.text_joining import bracketed
from workers.artifacts import provenance
from workers.models import Job
from workers.runtimes import software

Setup = tuple[str, str]  # code of a model and stage in which it was measured
# Items that a run's own settings tell, by the names that training programs give the options.
SETTINGS = {"seed": ("seed", "random_seed"),
            "dtype": ("precision", "dtype", "torch_dtype", "params_dtype"),
            "dataset": ("data_path", "dataset", "data_dir", "dataset_dir", "train_data")}
SWITCHES = {"bf16": "bf16", "fp16": "fp16"}  # of the data type, where nothing names it
NO = {"false", "0", "no", "none", ""}
SIZES = {"TP": ("tensor_parallel", "tensor_model_parallel_size", "tensor_parallel_size", "tp"),
         "PP": ("pipeline_parallel", "pipeline_model_parallel_size", "pipeline_parallel_size",
                "pp"),
         "CP": ("context_parallel", "context_parallel_size", "cp"),
         "EP": ("expert_parallel", "expert_model_parallel_size", "expert_parallel_size", "ep"),
         "DP": ("data_parallel_size", "dp")}
DTYPES = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32"}
FRAMEWORK = re.compile(r"(PyTorch|TensorFlow|MindSpore) v?(\d\S*)", re.IGNORECASE)
PROVABLE = ("seed", "dtype", "parallel")  # of the baseline's side too, by its own file or job
# What a comparison is asked for (DOMAIN 9.8, 11.2): said even where neither side recorded it.
ASKED_FOR = ("chip", "cards", "driver", "firmware", "cann", "torch_npu", "dtype", "seed", "dataset")


@dataclass(frozen=True)
class Fact:
    """What is known of one item; `is_from_survey`: by the customer's answers in the survey,
    not by a baseline or a probe. False where nothing is known."""

    text: str = ""
    is_from_survey: bool = False
    words: Any = None  # the text in the language of the reader, where it is none of a record

    def __bool__(self) -> bool:
        return bool(self.text)


NOTHING = Fact()
CUSTOMERS = Fact("customer", words=gettext_lazy("the customer"))  # the node is marked as theirs
Sides = dict[Setup, tuple[dict[str, Fact], dict[str, Fact]]]  # (source, target)


def environments(sides: Sides) -> dict:
    """One table for all models: a row per item and pair of values, with the models that have it.

    A model is named with its stage where it was measured in several stages on different set-ups.

    Args:
        sides: see `sides_of`.
    """
    rows = [row for item in _items(sides) for row in _rows(item, sides)]
    return table(lambda: _("Environments: source and target"), [
        column(lambda: _("Environment item")), column(lambda: _("Models")),
        column(lambda: _("Source platform (GPU)")), column(lambda: _("Target platform (NPU)")),
        column(lambda: _("Same"))], rows, is_grouped=True,
                 is_dense=True, empty=lambda: _("No environment is recorded on either side."))


def environment_pairs(sides: Sides) -> Iterator[tuple[str, str, Fact, Fact]]:
    """Model code, item, what is known of it at the source and at the target."""
    for item in _items(sides):
        for (model, _stage), (before, after) in sides.items():
            yield model, item, before.get(item, NOTHING), after.get(item, NOTHING)


def unrecorded(sides: Sides) -> list[dict[str, str]]:
    """Items that a comparison is asked for and that no baseline or probe records everywhere."""
    lacking = {item for _model, item, before, after in environment_pairs(sides)
               if item in ASKED_FOR and (not after or not before or before.is_from_survey)}
    return [both(lambda i=item: item_label(i)) for item in ASKED_FOR if item in lacking]


def environment_count(sides: Sides) -> dict[str, int]:
    """How many items a comparison is asked for in all, and how many of them no file or probe
    records of the source and of the target."""
    cells = [(before.get(item, NOTHING), after.get(item, NOTHING))
             for before, after in sides.values() for item in ASKED_FOR]
    return {"all": len(cells),
            "source": sum(not before or before.is_from_survey for before, _after in cells),
            "target": sum(not after for _before, after in cells)}


def sides_of(judged: Judged, survey: Sheet | None) -> Sides:
    """What is known of (source, target) for each model and stage.

    What no baseline records of the source is taken from the survey, and stays marked as stated.
    """
    found: Sides = {}
    for criterion, verdict in judged:
        setup = criterion.model.code, criterion.stage
        if setup not in found:
            found[setup] = source_environment(survey, criterion.model), {}
        before, after = found[setup]
        before.update(recorded_source(criterion))
        after.update(recorded_target(verdict))
    return found


def source_environment(survey: Sheet | None, model: MigratedModel) -> dict[str, Fact]:
    """What the survey's answers state of the source platform."""
    return _by_package({item: Fact(text, is_from_survey=True)
                        for item, text in platform_answers(survey, model).items()})


@remembered
def recorded_source(criterion: Criterion) -> dict[str, Fact]:
    """What the baseline records of its environment; over that what its own file or job holds."""
    baseline = criterion.baseline
    if not baseline:
        return {}
    found = _flat({"chip": baseline.hardware, "dataset": baseline.data_set, "seed": baseline.seeds,
                   **versions_in(baseline.software), **(baseline.environment or {})})
    found = _by_package(found)
    if file := baseline.artifact:
        own = _of_settings(recorded_settings(file, provenance.of(file).job))
        found |= _flat({item: own[item] for item in PROVABLE})
    return found


@remembered
def recorded_target(verdict: Verdict | None) -> dict[str, Fact]:
    """What the judged run itself records: node, cards, software, settings of its command, and
    those that its files print."""
    run = verdict.measurement if verdict else None
    if run is None:
        return {}
    job: Job | None = run.job
    given = _of_settings(recorded_settings(run.artifact, job))
    if not (job and job.node):
        return _flat({item: given[item] for item in PROVABLE})
    found = _flat({"chip": software.chips_of(job.node), "cards": job.cards_wanted or "",
                   **software.of_job(job), **given})
    return {**found, "platform": CUSTOMERS} if job.node.is_customers else found


def _by_package(facts: dict[str, Fact]) -> dict[str, Fact]:
    """With a framework and its version as what its package is, which the other side records; where
    the package is known in another version, both stand."""
    framework = facts.get("framework", NOTHING)
    named = FRAMEWORK.fullmatch(framework.text)
    if not named or facts.get(item_name(named[1]), NOTHING).text not in ("", named[2]):
        return facts
    rest = {item: fact for item, fact in facts.items() if item != "framework"}
    return {item_name(named[1]): replace(framework, text=named[2]), **rest}


def _of_settings(settings: dict[str, str]) -> dict[str, str]:
    found = {item: next((settings[name] for name in names if settings.get(name)), "")
             for item, names in SETTINGS.items()}
    found["dtype"] = found["dtype"] or next((dtype for name, dtype in SWITCHES.items()
                                             if settings.get(name, "").lower() not in NO), "")
    sizes = {label: next((settings[name] for name in names if settings.get(name)), "")
             for label, names in SIZES.items()}
    return {**found, "parallel": " ".join(f"{label}{n}" for label, n in sizes.items() if n)}


def sizes_in(text: str) -> dict[str, int]:
    """Parallel sizes as people and settings write them: “TP2 PP 2”, “tp=8, dp=1”."""
    return {label.upper(): int(n) for label, n in re.findall(
        r"(?<![A-Za-z])([TPCED]P)\s*[=:×x]?\s*(\d{1,5})", text, re.IGNORECASE)}


def _plain(item: str, value: Any) -> str:
    """The value as it is compared: data types under their short names."""
    text = _text(value)
    if item != "dtype":
        return text
    short = text.lower().removeprefix("torch.")
    return DTYPES.get(short, short)


def _flat(facts: dict) -> dict[str, Fact]:
    return {(item := item_name(key)): Fact(_plain(item, value))
            for key, value in (facts or {}).items() if value not in (None, "", [], {})}


def _text(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in sorted(value.items()))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _items(sides: Sides) -> list[str]:
    known = {key for pair in sides.values() for side in pair for key in side}
    asked = known.union(ASKED_FOR) if known else known
    return [key for key in WORDS if key in asked] + sorted(known - set(WORDS))


def _rows(item: str, sides: Sides) -> list[list]:
    values: dict[tuple[Fact, Fact], list[Setup]] = {}
    for setup, (before, after) in sides.items():
        values.setdefault((before.get(item, NOTHING), after.get(item, NOTHING)), []).append(setup)
    return [[both(lambda: item_label(item)), both(lambda s=setups: _names(s, list(sides))),
             _shown(before), _shown(after), both(lambda b=before, a=after: _verdict(b, a))]
            for (before, after), setups in values.items()]


def _names(some: list[Setup], among: list[Setup]) -> str:
    """The models of the set-ups, or those that are left out where these are fewer."""
    rest = [setup for setup in among if setup not in some]
    if not rest:
        return _("all")
    if len(rest) < len(some):
        return _("Other models")
    split = {code for code, stage in among if (code, stage) not in some}
    return ", ".join(dict.fromkeys(
        f"{code}{bracketed(Stage(stage).label)}" if code in split else code
        for code, stage in some))


def _shown(fact: Fact) -> str | dict[str, str]:
    if fact.is_from_survey:
        return both(lambda: _("%(value)s (stated in the survey)") % {"value": fact.text})
    if fact.words:
        return both(lambda: str(fact.words))
    return fact.text or both(lambda: _("not recorded"))


def _verdict(before: Fact, after: Fact) -> str:
    if not (before and after):
        return "–"
    return _("yes") if before.text == after.text else _("differs")
