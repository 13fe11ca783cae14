"""What is delivered: documents, bundles, code and models with checksums (DOMAIN AR-13)."""

import re

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.agreement.deliverables import MADE_IN
from delivery.documents.bilingual import both, instant, named
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from engagements.remembered_reads import remembered
from engagements.stages import Stage
from workers.models import Artifact

IN_USE = (*MADE_IN, Stage.TRAIN_TUNE, Stage.INFER_TUNE)  # whose containers the customer needs
DIGEST = re.compile(r"[\w./:-]*@?sha256:[0-9a-f]{64}")
OF_TOOLS = (".csv", ".json", ".txt", ".log")  # results of tools, nothing that runs
LOGS = ("log.txt", "stdout", "stderr", "stdout.log", "stderr.log")


def documents(source: Source) -> dict:
    """Issued documents in force, and the newest evidence bundle of each."""
    document = source.document
    rows = [[both(d.get_kind_display), d.number, f"V{d.version}.0", 1, "PDF", d.content_hash]
            for d in source.engagement.documents.in_force().without_facts().exclude(
                pk__in=[document.pk, document.replaces_id]).order_by("pk")]
    newest = {bundle.document_id: bundle for bundle in source.engagement.bundles.order_by("pk")
              .select_related("document").defer("document__snapshot", "document__words")}
    rows += [[both(lambda: _("Evidence bundle")), bundle.document.number,
              f"V{bundle.document.version}.0", 1, "ZIP", bundle.sha256]
             for bundle in newest.values()]
    return {**_table(source, lambda: _("Documents and evidence bundles"), lambda: _("Number"),
                     rows),
            "cure": reverse("reports:engagement", args=[source.engagement.code])}


def pins(source: Source) -> dict:
    """Commits of repositories and digests of container images: of the deliverables, and of the
    containers in which successful runs of the migrating stages ran, as their engine said."""
    rows = [[both(lambda row=row: str(row)), row.model.code if row.model else "–",
             both(lambda row=row: _("image") if row.image_digest else _("commit")),
             row.repository or "–", row.image_digest or row.commit]
            for row in source.engagement.deliverables.exclude(delivered_at=None)
            .filter(artifact=None).select_related("model")]
    rows += [[both(lambda: _("Container image of runs")), ", ".join(sorted(models)) or "–",
              both(lambda: _("image")), ", ".join(f"#{run}" for run in runs), digest]
             for digest, (models, runs) in _images(source).items()]
    return {**table(lambda: _("Commits and container images"), [
        column(lambda: _("Deliverable")), column(lambda: _("Model"), "code"),
        column(lambda: _("Medium")), column(lambda: _("Repository or runs")),
        column(lambda: _("Commit or digest"), "hash", is_required=True)], rows,
        empty=lambda: _("No deliverable names a commit or an image, and no successful run of the "
                        "migrating stages recorded one.")),
        "cure": reverse("reports:deliverables", args=[source.engagement.code])}


def _images(source: Source) -> dict[str, tuple[set[str], list[int]]]:
    """By digest: codes of the models and numbers of the runs."""
    found: dict[str, tuple[set[str], list[int]]] = {}
    for job in source.engagement.jobs.whole().filter(
            stage__in=IN_USE, state="succeeded").order_by("pk").select_related("model").only(
            "results", "model__code"):
        container = job.results.get("container", {}) if isinstance(job.results, dict) else {}
        for digest in DIGEST.findall(str(container.get("digests") or container.get("image") or "")):
            models, runs = found.setdefault(digest, (set(), []))
            runs.append(job.pk)
            models.update([job.model.code] if job.model else [])
    return found


def works(source: Source) -> dict:
    """Code, scripts and models that jobs of the migrating stages brought back.

    What their tools report beside them is counted: it stands in the evidence bundle.
    """
    files = works_files(source)
    reports = [file for file in files if file.name.lower().endswith(OF_TOOLS)]
    rows = [[file.name, file.model.code if file.model else "–", f"#{file.job_id}", 1,
             both(lambda: _("electronic")), file.sha256]
            for file in files if file not in reports]
    if reports:
        rows.append([both(lambda: _("Results of the tools (tables, records)")), "–", "–",
                     len(reports), both(lambda: _("Evidence bundle")),
                     both(lambda: _("SHA256SUMS in the bundle"))])
    made = _table(source, lambda: _("Code, scripts and models"), lambda: _("Model"), rows,
                  lambda: _("Run"))
    return {**made, "is_dense": True,
            "cure": f"{reverse('workers:jobs')}?engagement={source.engagement.code}"}


def works_files(source: Source) -> list[Artifact]:
    """Files of successful runs of the migrating stages, without their logs."""
    files = Artifact.objects.filter(
        engagement=source.engagement, job__stage__in=MADE_IN, job__state="succeeded",
        job__gang=None,
    ).select_related("model").order_by("model__position", "pk")
    return [file for file in files if file.name.rpartition("/")[2] not in LOGS]


@remembered
def _receipts(source: Source) -> dict[str, dict[str, str]]:
    """What the customer confirmed in reviews to have received, by checksum: who and when."""
    decided = source.engagement.documents.without_facts().filter(
        review__receipts__is_complete=True).distinct()
    return {row.sha256: {language: f"{name} {instant(row.at)[:10]}"
                         for language, name in named(row.received_by).items()}
            for document in decided for row in document.review.receipts.filter(
                is_complete=True).select_related("received_by")}


def _table(source: Source, caption, second, rows: list, third=lambda: _("Version")) -> dict:
    """The list; who received what, as soon as anything is recorded of it."""
    if receipts := _receipts(source):
        rows = [[*row, receipts.get(row[-1] if isinstance(row[-1], str) else "") or both(
            lambda: _("not recorded"))] for row in rows]
    return table(caption, [
        column(lambda: _("Deliverable")), column(second, "code"),
        column(third, "code", is_required=True), column(lambda: _("Quantity"), "number"),
        column(lambda: _("Medium")), column(lambda: _("Checksum"), "hash", is_required=True),
        *([column(lambda: _("Received"))] if receipts else [])], rows,
                 empty=lambda: _("Nothing of this kind has been delivered yet."))
