"""Steps of the scenario that make documents: reports, acceptance with its signature, lists."""

import re
from email import message_from_bytes
from functools import partial
from pathlib import Path

from asn1crypto import pem
from django.conf import settings

from delivery.acceptance import services as acceptance
from delivery.acceptance.signing.seals.certificate import load_signer
from delivery.documents.bilingual import LANGUAGES
from delivery.evidence.services import build_bundle
from delivery.reports import services as reports
from delivery.reports.models import Document, RenderJob
from engagements.stages import Stage


class ScenarioDocuments:
    """Steps that make documents; the worker process renders one half of their files."""

    def report(self) -> None:
        document = self._issue(reports.draft_test_report)
        self._save_files("test-report", document)

    def acceptance(self) -> None:
        manager, reviewer = self.who["manager"], self.who["reviewer"]
        self._work(Stage.ACCEPT, self.models)  # passed by the customer's signature
        document = self._issue(reports.draft_acceptance)
        review = acceptance.open_review(actor=manager, document=document)
        acceptance.comment(actor=reviewer, review=review, text="损失曲线与证据已核对。")
        acceptance.decide(actor=reviewer, review=review, decision="accepted")
        acceptance.begin_signing(actor=reviewer, review=review, name="陈国栋",
                                 capacity="信息中心主任", agrees=True)
        acceptance.sign(actor=reviewer, review=review, code=self._code_from_mail())
        acceptance.store_signed_copies(review, LANGUAGES[1:])  # the worker makes the others
        self._until(lambda: document.files.filter(format="signed").count() == len(LANGUAGES), 120,
                    "signed copies")
        document.refresh_from_db()
        self._save_files("acceptance", document)
        bundle = build_bundle(actor=manager, engagement=self.engagement,
                              document=document)
        with bundle.file.open("rb") as stream:
            self._write("evidence-bundle.zip", stream.read())
        signer = load_signer(is_practice=bundle.is_practice)
        self._write("certificate.pem", pem.armor("CERTIFICATE", signer.signing_cert.dump()))
        self.engagement.refresh_from_db()
        self.log(f"  {document} signed; engagement is {self.engagement.state}")

    def _code_from_mail(self) -> str:
        """The one-time code of the newest e-mail that holds one; they lie in a folder."""
        mails = sorted(Path(settings.EMAIL_FILE_PATH).iterdir(),
                       key=lambda path: path.stat().st_mtime_ns)
        texts = [message_from_bytes(path.read_bytes()).get_payload(decode=True).decode()
                 for path in mails]
        codes = [found.group() for text in texts
                 if (found := re.search(r"(?<!\d)\d{6}(?!\d)", text))]
        return codes[-1]

    def sheets(self) -> None:
        """ScenarioDocuments beside the two main ones: environment, criteria, hand-over list."""
        for kind, name in (("EC", "environment-report"), ("AC", "criteria-sheet"),
                           ("HD", "hand-over-list")):
            self._save_files(name, self._issue(partial(reports.draft_document, kind=kind)))

    def _issue(self, draft) -> Document:
        """Draft by the delivery lead, review by the consultant, approval by the manager."""
        lead = self.who["lead"]
        document = draft(actor=lead, engagement=self.engagement)
        reports.submit_document(actor=lead, document=document)
        reports.review_document(actor=self.who["consultant"], document=document)
        document = reports.order_issue(actor=self.who["manager"], document=document)
        for order in document.render_jobs.order_by("-pk"):  # the worker begins at the other end
            reports.take_render_job(order.pk)
        self._until(lambda: not document.render_jobs.exclude(state=RenderJob.State.DONE).exists(),
                    120, f"files of {document}")
        document.refresh_from_db()
        return document

    def _save_files(self, name: str, document) -> None:
        for file in document.files.all():
            with file.file.open("rb") as stream:
                ending = {"signed": "-signed.pdf"}.get(file.format, f".{file.ending}")
                self._write(f"{name}-{file.language}{ending}", stream.read())
        self.log(f"  {document} issued, hash {document.content_hash[:16]}")

    def _write(self, name: str, data: bytes) -> None:
        (self.out / name).write_bytes(data)
