"""What the people of a review do, in short, and short files that can be sealed."""

import re
from datetime import timedelta

from django.core import mail
from django.db import connection
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.tasks import store_copies
from delivery.reports import services as reporting
from delivery.reports.models import Document
from engagements.audit_rows.tracking import PendingWrite
from engagements.models import Membership, Role, User
from tests.document_steps import checks, issued_document, reviewed_document

SOON = timezone.localdate() + timedelta(days=30)
SHORT = (b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
         b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
         b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<<>>>>endobj\n"
         b"xref\n0 4\n0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n"
         b"0000000101 00000 n \ntrailer<</Size 4/Root 1 0 R>>\nstartxref\n178\n%%EOF\n")

WORD = b"PK\x05\x06" + bytes(18)  # an archive without entries: nothing here reads Word files


def end_transaction() -> None:
    """What the end of the transaction does for rows that no entry of the log spoke of."""
    for _savepoints, hook, _is_robust in list(connection.run_on_commit):
        if isinstance(hook, PendingWrite):
            hook()


class Review:
    """What the people of a review do, in short."""

    def __init__(self, people):
        self.people, self.manager = people, people[Role.MANAGER]
        self.reviewer = people[Role.REVIEWER]

    def open(self, engagement, kind="FA", *, is_checked=False):
        """An acceptance document before the customer."""
        draft = reporting.draft_acceptance(actor=self.manager, engagement=engagement)
        reviewed = reviewed_document(draft, self.people, is_checked=is_checked)
        Document.objects.filter(pk=draft.pk).update(kind=kind)
        with checks(is_checked):
            issued = reporting.issue_document(
                actor=self.people[Role.ADMINISTRATOR], document=reviewed)
        return services.open_review(actor=self.manager, document=issued)

    def correct(self, document, words):
        """The next version of an issued document, issued."""
        draft = reporting.draft_correction(actor=self.manager, document=document, reason="更新")
        draft = reporting.write_words(actor=self.manager, document=draft, words=words)
        return issued_document(draft, self.people)

    def decide(self, review, decision="accepted", actor=None, **given):
        """A decision; what is rejected is tested again in a month."""
        rows = [{"decision": decision}, *given.get("models", [])]
        if any(row["decision"] == "rejected" for row in rows):
            given.setdefault("retest_on", SOON)
        return services.decide(actor=actor or self.reviewer, review=review, decision=decision,
                               **given)

    def begin(self, review, actor=None, **given) -> str:
        """Accept the terms; the code from the e-mail."""
        services.begin_signing(**{
            "actor": actor or self.reviewer, "review": review,
            "capacity": "甲方项目负责人", "agrees": True, "ip_address": "10.1.2.3", **given})
        return newest_code()

    def sign(self, review, actor=None, **given):
        actor = actor or self.reviewer
        code = given.pop("code") if "code" in given else self.begin(review, actor)
        return services.sign(actor=actor, review=review, code=code, ip_address="10.1.2.3",
                             user_agent="Firefox", **given)

    def sign_and_seal(self, review, **given):
        """The same, and the worker's part after it: sealed copies in both languages."""
        made = self.sign(review, **given)
        store_copies(review.pk)
        return made

    def colleague(self, engagement, name: str):
        """One more reviewer of the customer."""
        user = User.objects.create_user(name, role=Role.REVIEWER, full_name=name.title(),
                                        email=f"{name}@customer.example")
        Membership.objects.create(engagement=engagement, user=user, role=Role.REVIEWER)
        return user


def newest_code() -> str:
    return re.search(r"(?<!\d)\d{6}(?!\d)", mail.outbox[-1].body).group()
