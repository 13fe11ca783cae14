"""Signs between words, in both languages."""

import pytest
from django.utils.translation import override

from engagements.text.text_joining import bracketed, following, in_turn, labelled, listed


@pytest.mark.parametrize(("language", "expected"), [
    ("en", ["Now: here", " (soon)", "", "a, b", "a; b"]),
    ("zh-hans", ["Now：here", "（soon）", "", "a、b", "a；b"])])
def test_signs_are_those_of_the_language(language, expected):
    with override(language):
        assert [labelled("Now", "here"), bracketed("soon"), bracketed(""), listed("ab"),
                in_turn("ab")] == expected


def test_a_chinese_full_stop_needs_no_blank():
    assert following("未满足。", "", "请确认：源模型。") == "未满足。请确认：源模型。"
    assert following("Not met.", "Confirm: the model.") == "Not met. Confirm: the model."
