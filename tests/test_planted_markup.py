"""HTML and Markdown that somebody writes into a text stays text: in pages, in what PDFs are set
from, in mails and in messages to chats. Only the user guide, which is ours, is Markdown."""

from html.parser import HTMLParser

import pytest
from django.apps import apps
from django.core import mail
from django.db import models
from django.db.models import F, Value
from django.db.models.functions import Cast, Concat
from django.urls import reverse
from markdown_it import MarkdownIt

from delivery.documents import pdf
from delivery.notices.channel_kinds import sender_of
from delivery.notices.transport.message_text import Item, plain
from engagements.bilingual_mail import send_mail
from engagements.models import Role
from tests.page_routes import QUERY, READ

MARK = "planted7"
MARKUP = f'<b id={MARK}>x</b> **{MARK}** ![{MARK}](http://{MARK}.example/a.png)'
# Columns that hold words of people, wherever they stand.
WORDS = ("name", "name_en", "title", "title_en", "text", "text_en", "note", "reason", "comment",
         "description", "summary", "purpose", "subject", "remark", "place", "owner", "contact",
         "statement", "wording", "question", "answer", "content", "address", "response",
         "conclusion", "action", "impact", "mitigation", "finding", "full_name")


class Elements(HTMLParser):
    """Elements and links that the mark has become."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.made: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if (name == "id" and value == MARK) or (
                    name in ("href", "src") and (value or "").startswith(f"http://{MARK}")):
                self.made.append(f"<{tag} {name}={value}>")


def planted() -> int:
    """Append the mark to each such column of each row; how many columns took it."""
    count = 0
    for table in apps.get_models():
        if table._meta.label == "engagements.AuditEntry" or table._meta.proxy:
            continue
        for field in table._meta.concrete_fields:
            if field.name not in WORDS or field.choices or field.unique or not isinstance(
                    field, models.CharField | models.TextField):
                continue
            if field.max_length and field.max_length < len(MARKUP) + 10:
                continue
            rows = table._base_manager.exclude(**{field.name: ""})
            count += rows.update(**{field.name: Concat(
                Value(MARKUP), Cast(F("pk"), models.CharField()),
                output_field=models.TextField())}) > 0
    return count


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.REVIEWER, Role.MANAGER])
def test_markup_in_words_of_people_becomes_no_element(client, people, world, monkeypatch, role):
    typeset = []

    def run(_function, html, *_more):
        typeset.append(html)
        return b"%PDF-1.7"

    monkeypatch.setattr(pdf, "run_in_child", run)
    assert planted() > 25
    client.force_login(people[role])
    made, shown = {}, 0
    for name in READ:
        answer = client.get(reverse(name, args=world.get(name, [])) + QUERY.get(name, ""))
        if "text/html" in answer.get("Content-Type", "") and answer.status_code == 200:
            text = answer.content.decode()
            shown += f"**{MARK}**" in text
            made |= {name: found} if (found := Elements(text).made) else {}
    assert made == {}
    assert shown > {Role.REVIEWER: 10, Role.MANAGER: 50}[role]
    assert role == Role.REVIEWER or typeset
    assert [Elements(html).made for html in typeset if Elements(html).made] == []


def test_markup_in_a_mail_is_text_and_only_addresses_of_the_desk_are_links(people, settings):
    settings.PUBLIC_URL = "https://desk.example"
    people[Role.REVIEWER].email = "reviewer@customer.example"
    send_mail(to=people[Role.REVIEWER], subject=lambda: MARKUP, paragraphs=lambda: [
        f"{MARKUP} http://{MARK}.example/login", "Open: https://desk.example/quotes/1/."])
    [(html, _kind)] = mail.outbox[0].alternatives
    assert Elements(html).made == []
    assert f"**{MARK}**" in html
    assert '<a href="https://desk.example/quotes/1/">https://desk.example/quotes/1/</a>.' in html
    assert html.count("<a ") == 2  # in both languages


@pytest.mark.parametrize("kind", ["wecom", "dingtalk", "feishu"])
def test_markup_in_a_message_to_a_chat_is_text(kind):
    item = Item("Quote sent", plain(MARKUP), plain(MARKUP), "https://desk.example/quotes/1/", "red")
    html = MarkdownIt("commonmark", {"html": True}).render(sender_of(kind).block(item))
    assert Elements(html).made == []
    assert html.count("<a ") == 1
    assert "<img" not in html
