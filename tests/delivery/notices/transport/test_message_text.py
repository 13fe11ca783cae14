"""Truncation, signatures, token buckets, back-off."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from delivery.notices.channel_kinds import sender_of
from delivery.notices.rate_limits import next_digest, retry_delay, take_token
from delivery.notices.transport import webhook_signatures
from delivery.notices.transport.message_text import ELLIPSIS, clip, fit, plain

NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(TEXT, st.integers(0, 200))
def test_clip_keeps_to_the_bytes_and_to_whole_characters(text, limit):
    cut = clip(text, limit)
    assert len(cut.encode()) <= limit
    if len(text.encode()) <= limit:
        assert cut == text
    elif limit >= 3:
        assert cut.endswith(ELLIPSIS)
        assert text.startswith(cut.removesuffix(ELLIPSIS))
        # No further character would have fitted.
        following = text[len(cut) - 1]
        assert len((cut + following).encode()) > limit


@given(st.lists(TEXT.filter(bool), min_size=1, max_size=12), st.integers(40, 400))
def test_fit_keeps_to_the_bytes_and_to_whole_blocks(blocks, limit):
    text = fit(blocks, limit, "\x00")
    assert len(text.encode()) <= limit
    whole = "\x00".join(blocks)
    if len(whole.encode()) <= limit:
        assert text == whole


def test_fit_says_how_many_were_left_out():
    text = fit([letter * 30 for letter in "abcdef"], 100)
    assert text.split("\n\n")[:2] == ["a" * 30, "b" * 30]
    assert "4" in text.split("\n\n")[2]


def test_markup_of_a_chat_is_taken_out():
    assert plain("a](http://x) <@all>\n`b`*") == "a (http://x)  @all   b  "


def test_signature_vectors_of_the_domain():
    assert webhook_signatures.dingtalk_sign(
        "SECdemo0000000000000000000000000000", "1700000000000") == \
        "xuV7L2fRhAH8yUORY1v4tB6eWmKOXRgbXf6TEpqOxhc%3D"
    assert webhook_signatures.feishu_sign("demoFeishuSecret", "1700000000") == \
        "2vg3HjBNqw0mZFpBn09APUCnV0tTJf8rEe3ke9gLJPw="


def test_webhook_signature_is_hmac_of_timestamp_and_body():
    # printf '1700000000.{}' | openssl dgst -sha256 -hmac key
    assert webhook_signatures.webhook_sign("key", "1700000000", b"{}") == \
        "sha256=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"


LIMITS = {"wecom": [(60, 18)], "dingtalk": [(60, 18)], "feishu": [(60, 100), (1, 5)]}


@given(st.sampled_from(sorted(LIMITS)), st.lists(st.floats(0, 20), min_size=1, max_size=120))
def test_no_window_of_time_holds_more_than_the_robot_takes(kind, pauses):
    at, tokens, filled, sent = NOW, 0.0, None, []
    for pause in pauses:
        at += timedelta(seconds=pause)
        tokens, wait = take_token(sender_of(kind).rate, tokens, filled, at)
        filled = at
        if not wait:
            sent.append(at)
    for seconds, most in LIMITS[kind]:
        assert all(sum(first <= other < first + timedelta(seconds=seconds) for other in sent)
                   <= most for first in sent)


def test_a_token_is_there_after_the_wait():
    tokens, wait = take_token(sender_of("wecom").rate, 0.25, NOW, NOW)
    assert wait == timedelta(seconds=3.75)
    assert take_token(sender_of("wecom").rate, tokens, NOW, NOW + wait)[1] == timedelta(0)


@given(st.integers(1, 60))
def test_pauses_double_up_to_an_hour_and_are_spread(attempts):
    middle = min(15 * 2 ** (attempts - 1), 3600)
    assert middle * 0.5 <= retry_delay(attempts).total_seconds() <= middle * 1.5
    assert retry_delay(attempts, timedelta(hours=3)) == timedelta(hours=3)


def test_digest_at_nine_in_shanghai():
    assert next_digest(datetime(2026, 11, 21, 0, 59, tzinfo=UTC)) == datetime(
        2026, 11, 21, 1, 0, tzinfo=UTC)
    assert next_digest(datetime(2026, 11, 21, 1, 0, tzinfo=UTC)) == datetime(
        2026, 11, 22, 1, 0, tzinfo=UTC)
