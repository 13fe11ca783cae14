"""What the survey's answers state of the source platform: no proof, but not unknown either."""

import re

from delivery.documents.bilingual import both, instant, named, pair
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences.counted_answers import HYPER_QUESTIONS, CountedAnswers
from engagements.migration_routes import Framework
from engagements.models import MigratedModel

# Names that stand before a version: "CANN 8.0.RC2", "驱动：24.1.rc2".
NAMES = {
    "driver": r"驱动|driver", "firmware": r"固件|firmware", "cann": "CANN", "cuda": "CUDA",
    "torch_npu": r"torch[_-]npu", "torch": r"(?:Py)?Torch(?![_-]?npu)", "mindie": "MindIE",
    "mindspore": "MindSpore(?! ?Lite)", "python": "Python"}
# The software that belongs to a framework.
OF_FRAMEWORK = {Framework.PYTORCH: ("torch", "torch_npu"), Framework.TENSORFLOW: ("tensorflow",),
                Framework.MINDSPORE: ("mindspore",)}
VERSION = r"\s*(?:版本|version)?\s*[:：=]?\s*[vV]?(?P<version>\d[\w.\-]*\w|\d)"
CARDS = re.compile(r"(\d+)\s*(?:卡|张|cards?\b|GPUs?\b)", re.IGNORECASE)


# Answers that documents cite where no file records the source platform.
CITED = ("gpu_type", "gpu_software", "framework", "framework_version", "precision", "mixed_method",
         "dataset", "hyper", HYPER_QUESTIONS["seed"])


def cited_answers(survey: Sheet | None) -> list[dict]:
    """The answers that `platform_answers` reads, word for word, with who gave each and when."""
    return [{"name": cell.name, "question": pair(cell.question.label, cell.question.label_en),
             "answer": both(lambda c=cell: c.text), "by": named(cell.answer.changed_by),
             "at": instant(cell.answer.changed_at), "revision": cell.revision}
            for cell in (survey.cells.values() if survey else ())
            if cell.question.key in CITED and cell.answer and cell.value is not None]


def versions_in(text: str) -> dict[str, str]:
    """Item and version as a text names them; an image's tag is none of them."""
    return {name: found["version"] for name, pattern in NAMES.items()
            if (found := re.search(f"(?<![/\\w])(?:{pattern}){VERSION}", text or "",
                                   re.IGNORECASE))}


def platform_answers(survey: Sheet | None, model: MigratedModel) -> dict[str, str]:
    """Item and value of the source platform as the answers name them; {} without a survey."""
    if survey is None:
        return {}
    given = CountedAnswers(survey)
    hardware, seed = given.text("gpu_type", model), given.hyper(model).get("seed")
    cards = CARDS.search(hardware)
    found = {"chip": re.split("[,，;；]", hardware)[0].strip(), "cards": cards[1] if cards else "",
             **_versions(given, model), "framework": _framework(given, model),
             "dtype": _dtype(given, model), "dataset": given.text("dataset", model)[:240],
             "seed": f"{seed:g}" if seed is not None and seed < 1e6 else f"{seed or ''}"}
    return {item: value for item, value in found.items() if value}


def _versions(given: CountedAnswers, model: MigratedModel) -> dict[str, str]:
    """Versions of the source platform; those of a framework only where the model uses it."""
    own = given.value("framework", model)
    of_others = {item for framework, items in OF_FRAMEWORK.items() if own and framework != own
                 for item in items}
    return {item: version for item, version in
            versions_in(given.text("gpu_software", model)).items() if item not in of_others}


def _framework(given: CountedAnswers, model: MigratedModel) -> str:
    own = given.text("framework", model)
    name = Framework(own).label if own in OF_FRAMEWORK else own
    return f"{name} {given.text('framework_version', model)}".strip()


def _dtype(given: CountedAnswers, model: MigratedModel) -> str:
    precision, method = given.text("precision", model), given.text("mixed_method", model)
    return f"{precision} ({method})" if method else precision
