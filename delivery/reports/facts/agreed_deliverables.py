"""What is to be handed over, against what is there (DOMAIN 2.2 acceptance, 9.9, AR-13).

Code, scripts and weights are owed of every model whose route makes them: a file of one model says
nothing of another.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from delivery.agreement.deliverables import ITEMS, TEXTS
from delivery.agreement.facts import shown, told
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.handover import works_files
from delivery.reports.facts.source import Source
from delivery.reports.models import Deliverable
from engagements.remembered_reads import remembered
from engagements.stages import Stage
from engagements.text.text_joining import listed
from workers.models import Artifact

DOCUMENTS = {"report": "TR", "manual": "UG"}  # deliverables that a kind of document is
THIS_DOCUMENT = gettext_lazy("this document")


@dataclass(frozen=True)
class Check:
    """An agreed deliverable with the files or documents of it, and the models that lack it.

    Args:
        entry: of the agreement.
        rows: of the list of deliverables that are kept for it.
        found: names of files or documents where no row is kept for it.
        files: what stands for it, by model.
    """

    entry: dict
    rows: list[Deliverable]
    found: list[str]
    lacking: tuple[str, ...] = ()
    files: list[Artifact] = field(default_factory=list)

    @property
    def code(self) -> str:
        return self.entry["code"]

    @property
    def models(self) -> list[str]:
        return self.entry["models"]

    def label(self) -> str:
        return told(self.entry["title"])

    @property
    def is_complete(self) -> bool:
        if self.rows:
            return all(row.delivered_at for row in self.rows)
        return bool(self.found) and not self.lacking

    @property
    def state(self) -> str:
        if self.is_complete:
            return _("there")
        if self.rows:
            return _("owed")
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
            return self.label()
        return _("%(deliverable)s (%(coverage)s)") % {
            "deliverable": self.label(), "coverage": self.coverage}

    @property
    def doubled(self) -> list[tuple[str, list[str]]]:
        """Contents that stand for more than one model: the checksum, and the models."""
        by_content: dict[str, set[str]] = defaultdict(set)
        for file in self.files:
            if file.model:
                by_content[file.sha256].add(file.model.code)
        return [(sha256, sorted(codes)) for sha256, codes in by_content.items() if len(codes) > 1]

    def reasons(self, sha256: str) -> list[str]:
        """Why a content may stand for several models, as the rows with it say."""
        return list(dict.fromkeys(
            row.same_content_reason for row in self.rows
            if row.artifact and row.artifact.sha256 == sha256 and row.same_content_reason))


@remembered
def checks(source: Source) -> list[Check]:
    """Each agreed deliverable, with what there is of it: nothing where it is missing."""
    rows, files = owed(source), [*works_files(source), *_uploads(source)]
    return [_check(entry, [row for row in rows if _is_of(row, entry)], files, source)
            for entry in source.agreement.value("deliverables") or ()]


def _is_of(row: Deliverable, entry: dict) -> bool:
    return row.code == entry["code"] if row.code else row.title == entry["title"]["zh-hans"]


def _check(entry: dict, rows: list[Deliverable], files: list[Artifact], source: Source) -> Check:
    if rows:
        lacking = tuple(row.model.code for row in rows if row.model and not row.delivered_at)
        return Check(entry, rows, [], lacking, [row.artifact for row in rows if row.artifact])
    kind = DOCUMENTS.get(entry["code"])
    issued = _issued(source, kind) if kind else []
    if issued or entry["code"] == "report":
        return Check(entry, [], issued)
    item = ITEMS.get(entry["code"])
    own = [file for file in files if item and item.is_met_by(file.name)]
    having = {file.model.code if file.model else None for file in own}
    if len(source.models) == 1 and own:  # then a file of no model can only be its own
        having.add(source.models[0].code)
    return Check(entry, [], sorted(file.name for file in own), tuple(
        code for code in entry["models"] if code not in having), own)


@remembered
def owed(source: Source) -> list[Deliverable]:
    """The list of the contract's deliverables, where one is kept."""
    return list(source.engagement.deliverables.select_related("model", "owner", "artifact"))


def missing(source: Source) -> list[Callable[[], str]]:
    """Names of the agreed deliverables that are not there, or not of every model: by the list that
    is kept, else by file names."""
    return [label for check in checks(source) if not check.is_complete for label in (
        [lambda row=row: str(row) for row in check.rows if not row.delivered_at]
        or [check.missing_label])]


def agreed_table(source: Source) -> dict:
    """The agreed deliverables with what fulfils each."""
    return table(lambda: _("Deliverables of the contract"), [
        column(lambda: _("Deliverable")), column(lambda: _("Models")),
        column(lambda: _("Accepted when")), column(lambda: _("Due at the end of")),
        column(lambda: _("Quantity"), "number"), column(lambda: _("Fulfilled by")),
        column(lambda: _("State"))],
        [[check.entry["title"], ", ".join(check.models) or "–", _rule(check.entry),
          both(lambda c=check: Stage(c.entry["due"]).label),
          sum(bool(row.delivered_at) for row in check.rows) or len(check.found),
          both(lambda c=check: _fulfilment(c)), both(lambda c=check: c.state)]
         for check in checks(source)],
        is_dense=True, empty=lambda: shown("deliverables", None))


def promised_table(source: Source) -> dict:
    """The same list before anything of it is there: a statement of work, a plan."""
    return table(lambda: _("Deliverables"), [
        column(lambda: _("No."), "number"), column(lambda: _("Deliverable")),
        column(lambda: _("Models")), column(lambda: _("Accepted when")),
        column(lambda: _("Due at the end of"))],
        [[n, entry["title"], ", ".join(entry["models"]) or "–", _rule(entry),
          both(lambda e=entry: Stage(e["due"]).label)]
         for n, entry in enumerate(source.agreement.value("deliverables") or (), 1)],
        empty=lambda: shown("deliverables", None))


def _rule(entry: dict) -> str | dict[str, str]:
    return entry["rule"] or both(lambda: _("not agreed"))


def _fulfilment(check: Check) -> str:
    """What stands for it; content that stands for several models is named with its reason."""
    same = ["\n".join([doubled_label(sha256, codes), *check.reasons(sha256)])
            for sha256, codes in check.doubled]
    if check.rows:
        proofs = [f"{row.model.code}: {row.proof}" if row.model else row.proof
                  for row in check.rows if row.proof]
        return "\n".join([*proofs, *same]) or "–"
    return "\n".join([_listed_files(check), *same])


def doubled_label(sha256: str, codes: list[str]) -> str:
    return _("the same content (SHA-256 %(hash)s…) stands for %(models)s") % {
        "hash": sha256[:16], "models": listed(codes)}


def _listed_files(check: Check) -> str:
    names = check.found
    if not names:
        return _("nothing, by name and ending of the files of successful runs and of uploads")
    rest = len(names) - 3
    more = [ngettext("%(n)d more", "%(n)d more", rest) % {"n": rest}] if rest > 0 else []
    return "\n".join(filter(None, (check.coverage, listed([*names[:3], *more]))))


def _issued(source: Source, kind: str) -> list[str]:
    """Documents of a kind in force. One that shows the table counts itself, by no number: it gets
    that last, and what it shows stays the same."""
    found = list(source.engagement.documents.in_force().filter(kind=kind).exclude(
        pk=source.document.pk).values_list("number", flat=True))
    return [*found, THIS_DOCUMENT] if source.document.kind == kind else found


def _uploads(source: Source) -> Iterable[Artifact]:
    """Files that people stored and that are a guide, a requirement or a design document by their
    name: no job writes these."""
    written = [item for item in ITEMS.values() if item.endings == TEXTS]
    return [file for file in Artifact.objects.filter(
        engagement=source.engagement, job=None).select_related("model")
            if any(item.is_met_by(file.name) for item in written)]
