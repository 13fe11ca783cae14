"""What is to be handed over, against what is there (DOMAIN 2.2 acceptance, 9.9, AR-13).

Code, scripts and weights are owed of every model whose route makes them: a file of one model says
nothing of another.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.handover import MADE_IN, works_files
from delivery.reports.facts.source import Source
from delivery.reports.models import Deliverable
from delivery.surveys.consequences.counted_answers import CountedAnswers
from engagements.models import MigratedModel
from engagements.stages import Stage, StageState
from engagements.text.text_joining import listed
from workers.models import Artifact

REPORT_KIND = "TR"
THIS_DOCUMENT = gettext_lazy("this document")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
SCRIPT_WORDS = ("train", "pretrain", "finetune", "run", "infer", "eval", "convert", "start")
REQUIREMENT_WORDS = ("requirement", "srs", "需求")
DESIGN_WORDS = ("design", "sdd", "设计")
MANUAL_WORDS = ("manual", "guide", "readme", "usage", "说明", "手册", "指南")


@dataclass(frozen=True)
class Item:
    """A deliverable of the list, and how a file of it is known by its name.

    Args:
        endings: of the file's name, in lower case.
        words: one of which the name holds; none where the ending is enough.
        answered: whether the survey's question on deliverables offers it.
        stages: a model that passes one of them owes it; none where it is owed once.
        is_optional: owed only where the survey's answer names it.
    """

    code: str
    label: Callable[[], str]
    endings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    answered: bool = True
    stages: tuple[Stage, ...] = ()
    is_optional: bool = False

    def is_met_by(self, name: str) -> bool:
        name = name.rpartition("/")[2].lower()
        return name.endswith(self.endings) and (
            not self.words or any(word in name for word in self.words))


TEXTS = (".md", ".txt", ".rst", ".pdf", ".docx", ".html")
ITEMS = (
    Item("requirement", lambda: _("Requirement document"), TEXTS, REQUIREMENT_WORDS,
         is_optional=True),
    Item("design", lambda: _("Design document"), TEXTS, DESIGN_WORDS, is_optional=True),
    Item("code", lambda: _("Source code of the models"),
         (".py", ".cpp", ".cc", ".patch", ".diff", *ARCHIVES), stages=(Stage.TRAIN_ADAPT,)),
    Item("scripts", lambda: _("Training and inference scripts"), (".sh", ".bash", ".py"),
         SCRIPT_WORDS, stages=MADE_IN),
    Item("weights", lambda: _("Weights or converted models"), (
        ".om", ".ms", ".mindir", ".air", ".pb", ".onnx", ".pt", ".pth", ".ckpt", ".safetensors",
        ".bin"), answered=False, stages=MADE_IN),
    Item("report", lambda: _("Test completion report")),
    Item("manual", lambda: _("User guide"), TEXTS, MANUAL_WORDS),
)


@dataclass(frozen=True)
class Check:
    """An agreed deliverable with the files or documents of it, and the models that lack it.

    Args:
        models: codes of the models that owe it; none where it is owed once.
    """

    item: Item
    found: list[str]
    models: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        return bool(self.found) and not self.lacking

    @property
    def state(self) -> str:
        if self.is_complete:
            return _("there")
        return _("in part") if len(self.lacking) < len(self.models) else _("missing")

    @property
    def coverage(self) -> str:
        """How many of the models it is there of; nothing where that is not asked."""
        if not self.models:
            return ""
        there = len(self.models) - len(self.lacking)
        counted = ngettext("%(n)d of %(all)d model", "%(n)d of %(all)d models",
                           len(self.models)) % {"n": there, "all": len(self.models)}
        return _("%(counted)s; missing: %(names)s") % {
            "counted": counted, "names": listed(self.lacking)} if self.lacking else counted

    def missing_label(self) -> str:
        """Its name, with the models that lack it where others have it."""
        if len(self.lacking) == len(self.models):
            return self.item.label()
        return _("%(deliverable)s (%(coverage)s)") % {
            "deliverable": self.item.label(), "coverage": self.coverage}


def checks(source: Source) -> list[Check]:
    """Each agreed deliverable, with what there is of it: nothing where it is missing."""
    files = [*works_files(source), *_uploads(source)]
    return [Check(item, _reports(source)) if item.code == "report" else
            _check(item, [file for file in files if item.is_met_by(file.name)], source)
            for item in agreed(source)]


def _check(item: Item, files: list[Artifact], source: Source) -> Check:
    owing = tuple(model.code for model in models_owing(item, source))
    having = {file.model.code if file.model else None for file in files}
    if len(source.models) == 1 and files:  # then a file of no model can only be its own
        having.add(source.models[0].code)
    return Check(item, sorted(file.name for file in files), owing,
                 tuple(code for code in owing if code not in having))


def models_owing(item: Item, source: Source) -> list[MigratedModel]:
    """The models of which it is owed: those whose route passes a stage that makes it."""
    return [model for model in source.models if any(
        record.stage in item.stages for record in model.stages.all()
        if record.state != StageState.SKIPPED)]


def agreed(source: Source) -> list[Item]:
    """What the survey's answer names, with the weights; all of the list where it names nothing."""
    named = CountedAnswers(source.survey).value("deliverables") if source.survey else None
    return [item for item in ITEMS if item.code in (named or ()) or (
        not item.is_optional and (not named or not item.answered))]


def owed(source: Source) -> list[Deliverable]:
    """The list of the contract's deliverables, where one is kept."""
    return list(source.engagement.deliverables.select_related("model", "owner", "artifact"))


def missing(source: Source) -> list[Callable[[], str]]:
    """Names of the deliverables that are not there, or not of every model: of the contract's list,
    else by file names."""
    if rows := owed(source):
        return [lambda row=row: str(row) for row in rows if not row.delivered_at]
    return [check.missing_label for check in checks(source) if not check.is_complete]


def agreed_table(source: Source) -> dict:
    """The list, item by item."""
    if listed_rows := owed(source):
        return _owed_table(listed_rows)
    rows = [[both(check.item.label), len(check.found), both(lambda c=check: _listed_files(c)),
             both(lambda c=check: c.state)] for check in checks(source)]
    return table(lambda: _("Deliverables by the agreed list"), [
        column(lambda: _("Deliverable")), column(lambda: _("Quantity"), "number"),
        column(lambda: _("What was found")), column(lambda: _("State"))], rows,
                 is_dense=True)


def _owed_table(rows: list[Deliverable]) -> dict:
    """The contract's list: rule, owner, due stage, and what fulfils each."""
    return table(lambda: _("Deliverables of the contract"), [
        column(lambda: _("Deliverable")), column(lambda: _("Model"), "code"),
        column(lambda: _("Accepted when")), column(lambda: _("Responsible")),
        column(lambda: _("Due at the end of")), column(lambda: _("Fulfilled by")),
        column(lambda: _("State"))],
        [[both(lambda row=row: str(row)), row.model.code if row.model else "–", row.rule or "–",
          str(row.owner or "–"), both(row.get_due_stage_display), row.proof or "–",
          both(lambda row=row: _("there") if row.delivered_at else _("owed"))] for row in rows],
        is_dense=True)


def _listed_files(check: Check) -> str:
    names = check.found
    if not names:
        return _("nothing, by name and ending of the files of successful runs and of uploads")
    rest = len(names) - 3
    more = [ngettext("%(n)d more", "%(n)d more", rest) % {"n": rest}] if rest > 0 else []
    return "\n".join(filter(None, (check.coverage, listed([*names[:3], *more]))))


def _reports(source: Source) -> list[str]:
    """Reports in force. One that shows the table counts itself, by no number: it gets that last,
    and what it shows stays the same."""
    found = list(source.engagement.documents.in_force().filter(kind=REPORT_KIND).exclude(
        pk=source.document.pk).values_list("number", flat=True))
    return [*found, THIS_DOCUMENT] if source.document.kind == REPORT_KIND else found


def _uploads(source: Source) -> Iterable[Artifact]:
    """Files that people stored and that are a guide, a requirement or a design document by their
    name: no job writes these."""
    written = [item for item in ITEMS if item.endings == TEXTS]
    return [file for file in Artifact.objects.filter(
        engagement=source.engagement, job=None).select_related("model")
            if any(item.is_met_by(file.name) for item in written)]
