"""What is delivered: documents, bundles, code and models with checksums (DOMAIN AR-13)."""

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from engagements.stages import Stage
from workers.models import Artifact

MADE_IN = (Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE)  # where code, scripts and models come from
LOGS = ("log.txt", "stdout", "stderr", "stdout.log", "stderr.log")


def documents(source: Source) -> dict:
    """Issued documents in force, and the newest evidence bundle of each."""
    document = source.document
    rows = [[both(d.get_kind_display), d.number, f"V{d.version}.0", 1, "PDF", d.content_hash, "☐"]
            for d in source.engagement.documents.in_force().exclude(
                pk__in=[document.pk, document.replaces_id]).order_by("pk")]
    newest = {bundle.document_id: bundle for bundle in source.engagement.bundles.order_by("pk")
              .select_related("document")}
    rows += [[both(lambda: _("Evidence bundle")), bundle.document.number,
              f"V{bundle.document.version}.0", 1, "ZIP", bundle.sha256, "☐"]
             for bundle in newest.values()]
    return {**_table(lambda: _("Documents and evidence bundles"), lambda: _("Number"), rows),
            "cure": reverse("reports:engagement", args=[source.engagement.code])}


def works(source: Source) -> dict:
    """Code, scripts and models that jobs of the migrating stages brought back."""
    rows = [[file.name, file.model.code if file.model else "–", f"#{file.job_id}", 1,
             both(lambda: _("electronic")), file.sha256, "☐"]
            for file in works_files(source)]
    made = _table(lambda: _("Code, scripts and models"), lambda: _("Model"), rows,
                  lambda: _("Run"))
    return {**made, "is_dense": True,
            "cure": f"{reverse('workers:jobs')}?engagement={source.engagement.code}"}


def works_files(source: Source) -> list[Artifact]:
    """Files of successful runs of the migrating stages, without their logs."""
    files = Artifact.objects.filter(
        engagement=source.engagement, job__stage__in=MADE_IN, job__state="succeeded",
        job__gang=None,
    ).select_related("model", "job").order_by("model__position", "pk")
    return [file for file in files if file.name.rpartition("/")[2] not in LOGS]


def _table(caption, second, rows: list, third=lambda: _("Version")) -> dict:
    return table(caption, [
        column(lambda: _("Deliverable")), column(second, "code"),
        column(third, "code", is_required=True), column(lambda: _("Quantity"), "number"),
        column(lambda: _("Medium")), column(lambda: _("Checksum"), "hash", is_required=True),
        column(lambda: _("Received"), "box")], rows,
                 empty=lambda: _("Nothing of this is delivered yet."))
