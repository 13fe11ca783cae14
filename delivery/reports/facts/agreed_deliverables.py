"""What is to be handed over, against what is there (DOMAIN 2.2 acceptance, 9.9, AR-13)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.handover import works_files
from delivery.reports.facts.source import Source
from delivery.reports.models import Deliverable
from delivery.surveys.consequences.counted_answers import CountedAnswers
from engagements.text.text_joining import listed
from workers.models import Artifact

REPORT_KIND = "TR"
THIS_DOCUMENT = gettext_lazy("this document")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
SCRIPT_WORDS = ("train", "pretrain", "finetune", "run", "infer", "eval", "convert", "start")
MANUAL_WORDS = ("manual", "guide", "readme", "usage", "说明", "手册", "指南")


@dataclass(frozen=True)
class Item:
    """A deliverable of the list, and how a file of it is known by its name.

    Args:
        endings: of the file's name, in lower case.
        words: one of which the name holds; none where the ending is enough.
        answered: whether the survey's question on deliverables offers it.
    """

    code: str
    label: Callable[[], str]
    endings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    answered: bool = True

    def is_met_by(self, name: str) -> bool:
        name = name.rpartition("/")[2].lower()
        return name.endswith(self.endings) and (
            not self.words or any(word in name for word in self.words))


ITEMS = (
    Item("code", lambda: _("Source code of the models"),
         (".py", ".cpp", ".cc", ".patch", ".diff", *ARCHIVES)),
    Item("scripts", lambda: _("Training and inference scripts"), (".sh", ".bash", ".py"),
         SCRIPT_WORDS),
    Item("weights", lambda: _("Weights or converted models"), (
        ".om", ".ms", ".mindir", ".air", ".pb", ".onnx", ".pt", ".pth", ".ckpt", ".safetensors",
        ".bin"), answered=False),
    Item("report", lambda: _("Test completion report")),
    Item("manual", lambda: _("User guide"), (".md", ".txt", ".rst", ".pdf", ".docx", ".html"),
         MANUAL_WORDS),
)


@dataclass(frozen=True)
class Check:
    """An agreed deliverable with the files or documents of it."""

    item: Item
    found: list[str]


def checks(source: Source) -> list[Check]:
    """Each agreed deliverable, with what there is of it: nothing where it is missing."""
    files = [file.name for file in (*works_files(source), *_uploads(source))]
    return [Check(item, _reports(source) if item.code == "report" else
                  [name for name in files if item.is_met_by(name)]) for item in agreed(source)]


def agreed(source: Source) -> list[Item]:
    """What the survey's answer names, with the weights; all of the list where it names nothing."""
    named = CountedAnswers(source.survey).value("deliverables") if source.survey else None
    return [item for item in ITEMS if not named or not item.answered or item.code in named]


def owed(source: Source) -> list[Deliverable]:
    """The list of the contract's deliverables, where one is kept."""
    return list(source.engagement.deliverables.select_related("model", "owner", "artifact"))


def missing(source: Source) -> list[Item]:
    """The deliverables of which nothing is there: of the contract's list, else by file names."""
    if rows := owed(source):
        return [Item(row.code, lambda row=row: str(row)) for row in rows if not row.delivered_at]
    return [check.item for check in checks(source) if not check.found]


def agreed_table(source: Source) -> dict:
    """The list, item by item."""
    if listed_rows := owed(source):
        return _owed_table(listed_rows)
    rows = [[both(check.item.label), len(check.found), both(lambda c=check: _told(c.found)),
             both(lambda c=check: _("there") if c.found else _("missing"))]
            for check in checks(source)]
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


def _told(names: list[str]) -> str:
    if not names:
        return _("nothing, by name and ending of the files of successful runs and of uploads")
    rest = len(names) - 3
    more = [ngettext("%(n)d more", "%(n)d more", rest) % {"n": rest}] if rest > 0 else []
    return listed([*names[:3], *more])


def _reports(source: Source) -> list[str]:
    """Reports in force. One that shows the table counts itself, by no number: it gets that last,
    and what it shows stays the same."""
    others = source.engagement.documents.in_force().filter(kind=REPORT_KIND).exclude(
        pk=source.document.pk)
    found = [document.number for document in others]
    return [*found, THIS_DOCUMENT] if source.document.kind == REPORT_KIND else found


def _uploads(source: Source) -> Iterable[Artifact]:
    """Files that people stored and that are a guide by their name: no job writes these."""
    [manual] = [item for item in ITEMS if item.code == "manual"]
    return [file for file in Artifact.objects.filter(engagement=source.engagement, job=None)
            if manual.is_met_by(file.name)]
