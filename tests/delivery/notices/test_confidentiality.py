"""Nothing confidential in a message; secrets are shown nowhere."""

import json
import logging
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.urls import reverse
from rest_framework.test import APIClient

from delivery.notices.models import Dispatch, Event, SendAttempt
from delivery.notices.transport import send_dispatches
from engagements.models import AuditEntry, Role
from tests.delivery.notices.conftest import CONFIDENTIAL, SECRET


@pytest.mark.parametrize("kind", ["wecom", "dingtalk", "feishu", "webhook"])
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_no_amount_customer_or_threshold_in_a_message(
        channel_of, other_side, submit, people, kind, language):
    from delivery.quotes import services as quotes
    from engagements.audit import audit_log

    channel = channel_of(kind, language=language)
    submit()
    quotes.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    engagement = Event.objects.first().engagement
    quote_made = quotes.create_quote(actor=people[Role.SALES], engagement=engagement)
    audit_log.record(actor=people[Role.SALES], action="quote.submit", target=quote_made,
                     engagement=engagement, data={"total": "1,234,567.00"})
    send_dispatches.send_to_channel(channel.pk)
    text = json.dumps(other_side.received[0]["json"], ensure_ascii=False)
    assert quote_made.number in text
    assert [word for word in CONFIDENTIAL if word in text] == []
    assert "¥" not in text


def test_secrets_are_stored_encrypted_and_shown_nowhere(
        channel_of, other_side, submit, people, client, caplog):
    caplog.set_level(logging.INFO)
    channel = channel_of("dingtalk")
    other_side.answers = [(500, {}, b"")]
    submit()
    send_dispatches.send_to_channel(channel.pk)
    with connection.cursor() as cursor:
        cursor.execute("SELECT url, secret FROM notices_channel")
        stored = str(cursor.fetchall())
    api = APIClient()
    api.force_authenticate(people[Role.ADMINISTRATOR])
    client.force_login(people[Role.ADMINISTRATOR])
    shown = [stored, caplog.text, str(AuditEntry.objects.values_list("data", "target_label")),
             str(list(SendAttempt.objects.values())), str(list(Dispatch.objects.values())),
             api.get("/api/v1/notice-channels/").content.decode(),
             api.get(f"/api/v1/notice-channels/{channel.pk}/").content.decode()]
    for name, arguments in (("channels", []), ("channel", [channel.pk]),
                            ("channel_edit", [channel.pk])):
        shown.append(client.get(reverse(f"notices:{name}", args=arguments)).content.decode())
    assert [text for text in shown if "TOPSECRETKEY" in text or SECRET in text] == []
    assert channel.masked_url == f"http://127.0.0.1:{urlsplit(channel.url).port}/******"
