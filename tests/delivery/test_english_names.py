"""Names, titles and organisations of people in both languages: pages, documents, what is stored."""

import pytest
from django.urls import reverse
from django.utils.translation import override

from delivery.documents.bilingual import LANGUAGES, in_language, named
from delivery.reports import services as reporting
from delivery.reports.facts import people as people_facts
from delivery.reports.facts.common import identity
from delivery.reports.facts.source import Source
from engagements import services
from engagements.models import Role, User
from engagements.queries import filtered_people

ENGLISH = {"full_name_en": "Lin Xue", "job_title_en": "Head of delivery",
           "organisation_en": "Migration Ltd."}
CHINESE = {"full_name": "林雪", "job_title": "交付负责人", "organisation": "迁移公司"}


@pytest.fixture
def lin(people) -> User:
    return services.update_person(actor=people[Role.ADMINISTRATOR], person=people[Role.MANAGER],
                                  **CHINESE, **ENGLISH)


@pytest.mark.parametrize(("language", "shown", "hidden"), [
    ("en", ENGLISH, CHINESE), ("zh-hans", CHINESE, ENGLISH)])
def test_the_team_stands_in_the_readers_language(client, lin, engagement, language, shown, hidden):
    client.force_login(lin)
    page = client.get(reverse("engagements:team", args=[engagement.code]),
                      headers={"accept-language": language}).text
    table = page[page.index("<tbody>"):page.index("</tbody>")]
    assert [text in table for text in (*shown.values(), *hidden.values())] == [True] * 3 + [
        False] * 3


def test_without_an_english_form_the_chinese_one_stands(lin):
    for name in ENGLISH:
        setattr(lin, name, "")
    with override("en"):
        assert (str(lin), lin.localized_job_title, lin.localized_organisation) == tuple(
            CHINESE.values())
    assert named(lin) == dict.fromkeys(LANGUAGES, "林雪")
    assert set(named(None).values()) == {""}


def test_people_are_found_by_their_english_names(lin):
    for text in ("lin xue", "migration ltd"):
        assert list(filtered_people(User.objects.all(), {"q": text})) == [lin]


def test_documents_name_people_in_their_language(delivered, lin):
    with override("en"):
        draft = reporting.draft_test_report(actor=lin, engagement=delivered)
    rows, signed = people_facts.organisation(Source(draft)), identity(
        draft, draft.created_at, lin)["approved_by"]
    for language, texts in (("en", ENGLISH), ("zh-hans", CHINESE)):
        assert list(texts.values()) in [row[:3] for row in in_language(rows, language)["rows"]]
        assert list(in_language(signed, language).values()) == list(texts.values())
        prepared = in_language(draft.snapshot, language)["prepared_by"]
        assert list(prepared.values()) == list(texts.values())


def test_what_is_stored_holds_the_name_of_every_language(lin):
    with override("en"):
        assert (str(lin), lin.get_full_name()) == ("Lin Xue", "林雪")
