"""Canonical JSON: the text and the hash that were fixed for version 1, for good."""

import pytest

from bundle_verifier.canonical import CURRENT_VERSION, SPACED, canonical, content_hash

FACTS = {"b": [1, 2.5, None, True], "a": {"名称": "迁移"}, "c": "é\n"}


def test_the_text_and_hash_of_version_1_never_change():
    assert canonical(FACTS, 1) == '{"a":{"名称":"迁移"},"b":[1,2.5,null,true],"c":"é\\n"}'
    assert content_hash(FACTS, 1) == (
        "cd61085107c1eee58a3c12b211d55387d79dce796f32c0cf38ca5a9c767db974")


def test_the_text_and_hash_of_version_0_never_change():
    """Rows of release 1.0.0 hold such hashes."""
    assert canonical(FACTS, SPACED) == (
        '{"a": {"名称": "迁移"}, "b": [1, 2.5, null, true], "c": "é\\n"}')
    assert content_hash(FACTS, SPACED) == (
        "75b00a28a2d54434319fbdc383ac92bbbdd6c66a400f36a0787f6bfab35bac9d")


def test_the_current_version_is_the_default_and_others_are_unknown():
    assert content_hash(FACTS) == content_hash(FACTS, CURRENT_VERSION)
    with pytest.raises(KeyError):
        canonical(FACTS, 9)
