"""One masker for logs, files and readings."""

import time

import pytest

from workers.masking import MASK, is_secret_name, mask_text, mask_tree

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----"
MASKED = [
    ("API_TOKEN=abc", f"API_TOKEN={MASK}"), ("password: x y", f"password: {MASK} y"),
    ('{"api_key": "abc", "n": 1}', f'{{"api_key": "{MASK}", "n": 1}}'),
    ("secret = 'two words'", f"secret = '{MASK}'"),
    ("--password xyz run", f"--password {MASK} run"),
    ("git clone https://me:pw@host/x", f"git clone https://{MASK}@host/x"),
    (f"key\n{KEY}\nend", f"key\n{MASK}\nend"), ("hf_abcdefghijklmnopqrst", MASK),
    ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"),
    ("db.password=abc", f"db.password={MASK}"),
]
KEPT = ["throughput tokens: 3423", "tokenizer-type: GPT2BPETokenizer", "max_tokens=512",
        "the token is printed", "Generate[0] token num: (0, 20)", "num_attention_heads: 32",
        "lm loss: 1.0E+01 | grad norm: 3.5 |", "https://host/a@b", "PWD=/home/x"]


@pytest.mark.parametrize(("text", "masked"), MASKED)
def test_secrets_are_masked_and_stay_so(text, masked):
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize("text", KEPT)
def test_figures_of_logs_are_kept(text):
    assert mask_text(text) == text


def test_names_and_trees():
    assert is_secret_name("HF_TOKEN")
    assert not is_secret_name("max_tokens")
    given = {"a": {"dbPassword": "x", "lr": "1"}}
    assert mask_tree(given) == {"a": {"dbPassword": MASK, "lr": "1"}}


def test_masking_is_fast_enough_for_logs():
    line = " [2025-08-01] iteration 1/ 5000 | consumed samples: 128 | lm loss: 1.0E+01 | tokens 5\n"
    began = time.process_time()
    mask_text(line * 20_000)  # 1.7 MB
    assert time.process_time() - began < 5
