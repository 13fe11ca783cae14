"""Deliverables that the survey offers, and how a file of one is known by its name."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from engagements.stages import Stage

MADE_IN = (Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE)  # where code, scripts and models come from
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
SCRIPT_WORDS = ("train", "pretrain", "finetune", "run", "infer", "eval", "convert", "start")
REQUIREMENT_WORDS = ("requirement", "srs", "需求")
DESIGN_WORDS = ("design", "sdd", "设计")
MANUAL_WORDS = ("manual", "guide", "readme", "usage", "说明", "手册", "指南")
TEXTS = (".md", ".txt", ".rst", ".pdf", ".docx", ".html")


@dataclass(frozen=True)
class Item:
    """A deliverable that can be agreed on.

    Args:
        endings: of the file's name, in lower case.
        words: one of which the name holds; none where the ending is enough.
        stages: a model that passes one of them owes it; none where it is owed once.
        due: the stage at whose end it is due.
        is_per_model: listed once for each model that owes it.
    """

    code: str
    label: Callable[[], str]
    endings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    due: Stage = Stage.ACCEPT
    is_per_model: bool = False

    def is_met_by(self, name: str) -> bool:
        name = name.rpartition("/")[2].lower()
        return name.endswith(self.endings) and (
            not self.words or any(word in name for word in self.words))


ITEMS = {item.code: item for item in (
    Item("requirement", lambda: _("Requirement document"), TEXTS, REQUIREMENT_WORDS,
         due=Stage.DESIGN),
    Item("design", lambda: _("Design document"), TEXTS, DESIGN_WORDS, due=Stage.DESIGN),
    Item("code", lambda: _("Source code of the models"),
         (".py", ".cpp", ".cc", ".patch", ".diff", *ARCHIVES), stages=(Stage.TRAIN_ADAPT,),
         due=Stage.TRAIN_ADAPT, is_per_model=True),
    Item("scripts", lambda: _("Training and inference scripts"), (".sh", ".bash", ".py"),
         SCRIPT_WORDS, stages=MADE_IN),
    Item("weights", lambda: _("Weights or converted models"), (
        ".om", ".ms", ".mindir", ".air", ".pb", ".onnx", ".pt", ".pth", ".ckpt", ".safetensors",
        ".bin"), stages=MADE_IN, due=Stage.INFER_MIGRATE, is_per_model=True),
    Item("report", lambda: _("Test completion report")),
    Item("manual", lambda: _("User guide"), TEXTS, MANUAL_WORDS),
)}
