"""Signing in the reader's language: the page before it, and the page it adds to the document."""

import pytest
from django.urls import reverse

from delivery.acceptance.signing.signature_page import signed_facts
from delivery.reports.rendering import context_of
from engagements import services
from engagements.models import Role


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


@pytest.mark.parametrize(("language", "name"), [("zh-hans", "林雪"), ("en", "Lin Xue")])
def test_the_name_to_sign_with_is_offered_in_the_reader_s_language(
        client, people, review, act, language, name):
    services.update_person(actor=people[Role.ADMINISTRATOR], person=act.reviewer,
                           full_name="林雪", full_name_en="Lin Xue")
    client.force_login(act.reviewer)
    page = client.get(reverse("acceptance:signing", args=[review.document_id]),
                      headers={"accept-language": language})
    assert page.context["identify_form"]["name"].value() == name
