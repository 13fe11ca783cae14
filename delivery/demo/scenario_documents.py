"""Steps of the scenario that make documents: reports, acceptance with its signature, lists."""

import re
from email import message_from_bytes, policy
from pathlib import Path

from asn1crypto import pem
from django.conf import settings

from delivery.acceptance import services as acceptance
from delivery.acceptance.models import Review
from delivery.acceptance.signing.seals.certificate import load_signer
from delivery.demo.sample_passages import PASSAGES
from delivery.demo.step_memory import require_practice
from delivery.documents.bilingual import LANGUAGES
from delivery.evidence.models import EvidenceBundle
from delivery.evidence.services import build_bundle
from delivery.quotes import services as quotes
from delivery.quotes.models import Quote
from delivery.quotes.quote_files import RENDERERS, quote_file
from delivery.reports import services as reports
from delivery.reports.models import Document, RenderJob
from engagements.errors import WrongState
from engagements.models import User
from engagements.stages import Stage

FILES = "django.core.mail.backends.filebased.EmailBackend"


# Who does what in which state. Documents tell by their state how far they are; in a step of
# `StepMemory` every other writer on SQLite would wait while the files are read for a draft.
ISSUING = (
    (Document.State.DRAFT, reports.submit_document, "author"),
    (Document.State.IN_REVIEW, reports.review_document, "reviewer"),
    (Document.State.REVIEWED, reports.order_issue, "approver"),
)
SIGNERS = {"author": "lead", "reviewer": "consultant", "approver": "manager"}
# The consultant measures: another one reviews what reports it.
OF_REPORT = {"author": "lead", "reviewer": "manager", "approver": "admin"}


class ScenarioDocuments:
    """Steps that make documents.

    Where the results are wanted in a folder, this process renders one half of the files beside the
    worker; else the worker renders all.
    """

    def agreements(self) -> None:
        """What is agreed before the work begins: assessment, work, plan, criteria, baselines."""
        for kind, name in (("AS", "assessment-report"), ("SOW", "statement-of-work"),
                           ("MP", "migration-plan"), ("AC", "criteria-sheet"),
                           ("BL", "baseline-sheet")):
            self._save_files(name, self._issue(kind))

    def report(self) -> None:
        document = self._issue(Document.Kind.TEST_REPORT)
        self._save_files("test-report", document)

    def provisional(self) -> None:
        """The list of outstanding issues, and the provisional acceptance."""
        self._save_files("punch-list", self._issue("PL"))
        document = self._accept("PA", "provisional-acceptance", "review.provisional")
        self.log(f"  {document} signed")

    def acceptance(self) -> None:
        self._work(Stage.ACCEPT, self.models)  # passed by the customer's signature
        document = self._accept(Document.Kind.ACCEPTANCE, "acceptance", "review")
        bundle = EvidenceBundle.objects.filter(document=document).first() or build_bundle(
            actor=self.who["manager"], engagement=self.engagement, document=document)
        self._write_bundle(bundle)
        self.engagement.refresh_from_db()
        self.log(f"  {document} signed; engagement is {self.engagement.state}")

    def _accept(self, kind: str, name: str, step: str) -> Document:
        """A certificate, issued, decided on and signed by the customer, with its sealed copies."""
        document = self._issue(kind)
        review = Review.objects.get(pk=self.memory.once(step, lambda: self._decide(document)))
        if document.state != Document.State.SIGNED:
            self._sign(review)
        if self.out:
            acceptance.store_signed_copies(review, LANGUAGES[1:])  # the worker makes the others
        self._until(lambda: document.files.filter(format="signed").count() == len(LANGUAGES), 3600,
                    "signed copies")
        document.refresh_from_db()
        self._save_files(name, document)
        return document

    def _decide(self, document: Document) -> int:
        review = acceptance.open_review(actor=self.who["manager"], document=document)
        acceptance.comment(actor=self.who["reviewer"], review=review,
                           text="损失曲线与证据已核对。")
        acceptance.decide(actor=self.who["reviewer"], review=review, decision="accepted")
        return review.pk

    def _sign(self, review: Review) -> None:
        """The one-time code comes by e-mail; where e-mails leave this host, nobody reads it."""
        if settings.EMAIL_BACKEND != FILES:
            self.log("  left unsigned: e-mails are not kept in a folder here")
            return
        reviewer = self.who["reviewer"]
        acceptance.begin_signing(actor=reviewer, review=review, name=reviewer.full_name,
                                 capacity=reviewer.job_title, agrees=True)
        acceptance.sign(actor=reviewer, review=review, code=code_from_mail(reviewer))

    def sheets(self) -> None:
        """Documents beside the certificates: environment, user guide, hand-over list."""
        for kind, name in (("EC", "environment-report"), ("UG", "user-guide"),
                           ("HD", "hand-over-list")):
            self._save_files(name, self._issue(kind))

    def _issue(self, kind: str) -> Document:
        """Draft by the delivery lead; review and approval by the `SIGNERS` of the kind."""
        lead = self.who["lead"]
        document = self.engagement.documents.filter(kind=kind, created_by=lead).order_by(
            "pk").first() or reports.draft_document(
                actor=lead, engagement=self.engagement, kind=kind)
        if document.state == Document.State.DRAFT and (words := self._words(kind)):
            document = reports.write_words(actor=lead, document=document, words=words)
        signers = OF_REPORT if kind == Document.Kind.TEST_REPORT else SIGNERS
        for state, step, duty in ISSUING:
            require_practice()
            document.refresh_from_db()
            if document.state == state:
                step(actor=self.who[signers[duty]], document=document)
        if self.out:
            for order in document.render_jobs.order_by("-pk"):  # the worker begins at the other end
                reports.take_render_job(order.pk)
        if document.render_jobs.filter(state=RenderJob.State.FAILED).exists():  # before a restart
            reports.requeue_render_jobs(actor=self.who["manager"], document=document)
        self._until(lambda: _is_rendered(document), 3600, f"files of {document}")
        document.refresh_from_db()
        return document

    def _words(self, kind: str) -> dict[str, dict[str, str]]:
        """Passages that only the sample's people can write; of a trial run only after one."""
        began = self.engagement.documents.in_force().filter(kind="PA").exists()
        return PASSAGES.get(kind, {}) if began or kind != "FA" else {}

    def _save_files(self, name: str, document: Document) -> None:
        for file in document.files.all() if self.out else ():
            with file.file.open("rb") as stream:
                ending = {"signed": "-signed.pdf"}.get(file.format, f".{file.ending}")
                self._write(f"{name}-{file.language}{ending}", stream.read())
        self.log(f"  {document} issued, hash {document.content_hash[:16]}")

    def _write_quote(self, quote: Quote) -> None:
        if self.out:
            quotes.store_quote_files(quote.pk)
            for language in LANGUAGES:
                for form in RENDERERS:
                    self._write(f"quote-{language}.{form}", quote_file(quote, language, form))

    def _write_bundle(self, bundle: EvidenceBundle) -> None:
        if self.out:
            with bundle.file.open("rb") as stream:
                self._write("evidence-bundle.zip", stream.read())
            signer = load_signer(is_practice=bundle.is_practice)
            self._write("certificate.pem", pem.armor("CERTIFICATE", signer.signing_cert.dump()))

    def _write(self, name: str, data: bytes) -> None:
        (self.out / name).write_bytes(data)


def _is_rendered(document: Document) -> bool:
    """Whether all files are there. Raises WrongState where one could not be made."""
    states = set(document.render_jobs.values_list("state", flat=True))
    if RenderJob.State.FAILED in states:
        raise WrongState(f"{document}: {document.render_jobs.filter(state='failed')[0].error}")
    return states == {RenderJob.State.DONE}


def code_from_mail(person: User) -> str:
    """The one-time code of the newest e-mail to the person that holds one."""
    mails = sorted(Path(settings.EMAIL_FILE_PATH).iterdir(),
                   key=lambda path: path.stat().st_mtime_ns)
    parsed = [message_from_bytes(path.read_bytes(), policy=policy.default) for path in mails]
    texts = [mail.get_body(("plain",)).get_content() for mail in parsed
             if person.email in mail["To"]]
    codes = [found.group() for text in texts
             if (found := re.search(r"(?<!\d)\d{6}(?!\d)", text))]
    return codes[-1]
