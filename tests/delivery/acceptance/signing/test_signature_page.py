"""Signing in the reader's language: the page before it, and the page it adds to the document."""

import pytest
from django.core import mail
from django.urls import reverse
from django.utils.translation import override

from delivery.acceptance import services as acceptance
from delivery.acceptance.review.deliverables import deliverables_of
from delivery.acceptance.services.identification import statement_hash
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.reports.rendering import context_of
from engagements import services
from engagements.errors import InvalidInput, WrongState
from engagements.models import Role
from tests.delivery.acceptance.services.test_identification import later
from tests.delivery.review_steps import SOON


@pytest.mark.parametrize(("language", "title"), [("zh-hans", "签署页"), ("en", "Signature page")])
def test_its_title_is_in_the_language_of_the_document(review, act, language, title):
    act.decide(review)
    act.sign(review)
    document = review.document
    document.refresh_from_db()
    chapters = context_of(document.snapshot, language, signed_facts(review))["sections"]
    assert (chapters[-1]["id"], chapters[-1]["title"]) == ("signed", title)


@pytest.mark.parametrize(("language", "order"), [("zh-hans", "中文 English"),
                                                 ("en", "English 中文")])
def test_what_is_signed_stands_first_in_the_reader_s_language(
        client, review, act, language, order):
    client.force_login(act.reviewer)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    for name in ("review", "signing"):
        page = client.get(reverse(f"acceptance:{name}", args=[review.document_id]))
        found = [language for file, language in page.context["files"] if file.format == "pdf"]
        assert " ".join(found) == order


def test_name_and_title_come_from_the_account(client, people, review, act):
    services.update_person(actor=people[Role.ADMINISTRATOR], person=act.reviewer,
                           full_name="林雪", full_name_en="Lin Xue", job_title="信息中心主任")
    act.reviewer.refresh_from_db()
    act.decide(review)
    client.force_login(act.reviewer)
    url = reverse("acceptance:signing", args=[review.document_id])
    assert "林雪</strong> · 信息中心主任" in client.get(url).content.decode()
    client.post(url.replace("signing", "identify"), {"agrees": "yes", "capacity": "董事长"})
    made = review.identifications.get()
    assert (made.name, made.capacity) == ("林雪", "信息中心主任")


def test_nobody_signs_in_another_persons_name(review, act):
    act.decide(review)
    with pytest.raises(InvalidInput, match="Reviewer"):
        act.begin(review, name="董事长")


def test_a_page_of_the_document_is_a_picture(client, review, act, stranger):
    file = review.document.files.get(format="pdf", language="en")
    url = reverse("acceptance:page_image", args=[file.pk, 1])
    client.force_login(act.reviewer)
    assert url in client.get(reverse("acceptance:signing", args=[review.document_id]),
                             headers={"accept-language": "en"}).content.decode()
    answer = client.get(url)
    assert (answer["Content-Type"], answer.content[:4]) == ("image/png", b"\x89PNG")
    assert client.get(reverse("acceptance:page_image", args=[file.pk, 2])).status_code == 404
    client.force_login(stranger)
    assert client.get(url).status_code == 404


@pytest.mark.parametrize("happens", [
    lambda review, act: acceptance.comment(actor=act.reviewer, review=review, text="还有一点"),
    lambda review, act: acceptance.confirm_receipt(
        actor=act.reviewer, review=review, keys=[deliverables_of(review, "en")[0].key],
        is_complete=False, remark="附录 B")])
def test_what_changed_since_the_code_was_sent_is_not_signed(review, act, happens):
    act.decide(review)
    code = act.begin(review)
    happens(review, act)
    with override("en"), pytest.raises(WrongState, match="changed since the code"):
        act.sign(review, code=code)
    later(minutes=2)
    act.sign(review)
    made = review.signatures.get().identification
    assert made.statement["open_comments"] or made.statement["missing"]
    assert made.statement_hash == statement_hash(made.statement)


def test_the_mail_with_the_code_says_what_it_signs(review, act):
    act.decide(review, "conditional", conditions=[
        {"description": "补充运维手册", "owner": "周启明", "due_on": SOON}])
    with override("en"):
        act.begin(review)
    body = mail.outbox[-1].body
    for words in ("PASSED WITH CONDITIONS", f"补充运维手册 · 周启明 · {SOON}", "EP2501",
                  review.identifications.get().statement_hash):
        assert words in body, words


@pytest.mark.slow
def test_everybody_who_signed_gets_the_sealed_copies(review, act, delivered,
                                                     practice_certificate_set):
    second = act.colleague(delivered, "zhao")
    acceptance.name_signers(actor=act.manager, review=review, users=[act.reviewer, second])
    act.decide(review)
    act.sign_and_seal(review)
    assert not [message for message in mail.outbox if message.attachments]  # one is missing
    act.sign_and_seal(review, actor=second)
    sent = [message for message in mail.outbox if message.attachments]
    assert [message.to for message in sent] == [["reviewer@firm.example"],
                                                ["zhao@customer.example"]]
    assert [name.rsplit("-", 1)[-1] for name, _content, _kind in sent[0].attachments] == [
        "en.pdf", "hans.pdf"]
