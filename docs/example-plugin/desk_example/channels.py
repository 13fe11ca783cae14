"""A kind of channel: a pager that takes one line of text."""

import json

from delivery.notices.channel_kinds import Request, Sender, register
from delivery.notices.rate_limits import Rate
from delivery.notices.send_outcomes import Outcome


@register
class Pager(Sender):
    code, title, host = "pager", "Pager", "pager.example.com"
    rate = Rate(2, 0.1)

    def request(self, channel, items, events, now):
        body = json.dumps({"text": "; ".join(f"{item.title} {item.about}" for item in items)})
        return Request(channel.url, body.encode(), {"Content-Type": "application/json"})

    def outcome(self, answer):
        if answer.status == 200:
            return Outcome(True, http_status=200)
        return Outcome(False, "http", str(answer.status), answer.status)
