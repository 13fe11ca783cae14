"""One sender per kind of channel: the request it makes and how it understands the answer.

Payloads, limits and signatures are those of DOMAIN 13. Success is what the body says.
"""

import json
from datetime import datetime, timedelta
from hashlib import sha256

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.notices.channel_kinds import Answer, Request, Sender, register
from delivery.notices.rate_limits import Rate
from delivery.notices.send_outcomes import Outcome
from delivery.notices.transport.message_text import Item, clip, fit, headline
from delivery.notices.transport.webhook_signatures import (
    dingtalk_sign,
    feishu_sign,
    standard_sign,
    webhook_sign,
)
from engagements.text.text_joining import labelled


class Robot(Sender):
    """A chat's robot: Markdown in, a code in the body of the answer out."""

    code_name = "errcode"
    limit = 4096  # bytes
    pause = timedelta(minutes=1)  # after a refusal
    signature_codes: frozenset[int] = frozenset()
    security_codes: frozenset[int] = frozenset()  # signature, keyword or address list, as set there

    def block(self, item: Item) -> str:
        lines = [f"**{item.title}** {item.about}"]
        if item.project:
            lines.append(labelled(_("Project"), item.project))
        return "\n".join([*lines, f"[{_('Open')}]({item.url})"])

    def outcome(self, answer: Answer) -> Outcome:
        """HTTP 200 says nothing: the code in the body decides."""
        status = answer.status
        if status != 200 and not answer.body:
            return Outcome(False, "http", str(status), status, pause=self.pause)
        try:
            code = json.loads(answer.body)[self.code_name]
        except (ValueError, KeyError, TypeError, RecursionError):
            reason = "http" if status != 200 else "unreadable"
            return Outcome(False, reason, str(status), status, pause=self.pause)
        if code == 0 and not isinstance(code, bool) and status == 200:
            return Outcome(True, http_status=status)
        reason = self._reason(code)
        return Outcome(False, reason, str(code)[:30], status,
                       is_permanent=reason != "rejected", pause=self.pause)

    def _reason(self, code) -> str:
        if not isinstance(code, int):  # the other side may send anything
            return "rejected"
        if code in self.signature_codes:
            return "signature"
        return "security" if code in self.security_codes else "rejected"


@register
class WeCom(Robot):
    """企业微信. The key in the address is the whole secret."""

    code, title, host = "wecom", gettext_lazy("WeCom robot"), "qyapi.weixin.qq.com"
    rate = Rate(6, 0.2)  # 6 + 60 × 0.2 = 18 a minute
    COLOURS = {"red": "warning", "orange": "warning", "green": "info"}

    def block(self, item: Item) -> str:
        colour = self.COLOURS.get(item.level, "comment")
        lines = [f"**{item.title}** <font color=\"{colour}\">{item.about}</font>"]
        if item.project:
            lines.append(f">{labelled(_('Project'), item.project)}")
        return "\n".join([*lines, f">[{_('Open')}]({item.url})"])

    def request(self, channel, items, events, now) -> Request:
        text = fit([self.block(item) for item in items], self.limit)
        return _json(channel.url, {"msgtype": "markdown", "markdown": {"content": text}})


@register
class DingTalk(Robot):
    """钉钉. Too many messages block the robot for ten minutes."""

    code, title, host = "dingtalk", gettext_lazy("DingTalk robot"), "oapi.dingtalk.com"
    rate = Rate(6, 0.2)
    limit = 16_000
    pause = timedelta(minutes=10)
    security_codes = frozenset({310000})

    def request(self, channel, items, events, now) -> Request:
        title = clip(headline(items), 120)
        text = fit([f"### {title}", *(self.block(item).replace("\n", "  \n") for item in items)],
                   self.limit)
        return _json(self._signed(channel, now), {
            "msgtype": "markdown", "markdown": {"title": title, "text": text},
            "at": {"isAtAll": False}})

    def _signed(self, channel, now: datetime) -> str:
        if not channel.secret:
            return channel.url
        stamp = str(int(now.timestamp() * 1000))
        joint = "&" if "?" in channel.url else "?"
        return (f"{channel.url}{joint}timestamp={stamp}"
                f"&sign={dingtalk_sign(channel.secret, stamp)}")


@register
class Feishu(Robot):
    """飞书. The whole request may hold 20 KB."""

    code, title, host = "feishu", gettext_lazy("Feishu robot"), "open.feishu.cn"
    rate = Rate(3, 1.5)  # 3 + 1.5 < 5 a second and 3 + 90 < 100 a minute
    code_name = "code"
    limit = 14_000  # leaves room for escapes and the card around it
    largest_request = 20_000
    signature_codes = frozenset({19021})
    security_codes = frozenset({19022, 19024})
    TEMPLATES = {"red": "red", "orange": "orange", "green": "green"}

    def request(self, channel, items, events, now) -> Request:
        limit = self.limit
        while True:
            made = _json(channel.url, self._card(channel, items, now, limit))
            if len(made.body) <= self.largest_request or limit < 200:
                return made
            limit = limit * 3 // 4

    def _card(self, channel, items: list[Item], now: datetime, limit: int) -> dict:
        text = fit([self.block(item) for item in items], limit)
        level = next((i.level for i in items if i.level == "red"), items[0].level)
        card = {"msg_type": "interactive", "card": {
            "header": {"title": {"tag": "plain_text", "content": clip(headline(items), 200)},
                       "template": self.TEMPLATES.get(level, "blue")},
            "elements": [{"tag": "div", "text": {"tag": "lark_md", "content": text}}]}}
        if not channel.secret:
            return card
        stamp = str(int(now.timestamp()))
        return {"timestamp": stamp, "sign": feishu_sign(channel.secret, stamp), **card}


@register
class Webhook(Sender):
    """Another system: all events as JSON, signed as Standard Webhooks says (docs/integration.md).

    Any 2xx means it was taken; 410 that the receiver wants no more.
    """

    code, title = "webhook", gettext_lazy("Signed webhook")
    rate = Rate(10, 1.0)
    makes_secret = may_repeat = True

    def request(self, channel, items, events, now) -> Request:
        made = _json(channel.url, {"events": events})
        # The same for the same events, so that a receiver knows a repetition.
        digest = sha256(json.dumps([event["id"] for event in events]).encode()).hexdigest()
        stamp, number = str(int(now.timestamp())), f"msg_{channel.pk}_{digest[:24]}"
        signatures = [standard_sign(secret, number, stamp, made.body)
                      for secret in channel.signing_secrets(now)]
        return Request(made.url, made.body, {
            "webhook-id": number, "webhook-timestamp": stamp,
            "webhook-signature": " ".join(signatures),
            "X-Desk-Timestamp": stamp,
            "X-Desk-Signature": webhook_sign(channel.secret, stamp, made.body)}, number)

    def outcome(self, answer: Answer) -> Outcome:
        if 200 <= answer.status < 300:
            return Outcome(True, http_status=answer.status)
        is_permanent = 300 <= answer.status < 400 or answer.status in (401, 403, 404, 410)
        return Outcome(False, "http", str(answer.status), answer.status,
                       is_permanent=is_permanent)


def _json(url: str, body: dict) -> Request:
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return Request(url, data, {})
