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


@pytest.mark.parametrize("name", [
    "apply_query_key_layer_scaling", "no-query-key-layer-scaling", "attention_key_layer_norm",
    "key_layer", "key_padding_mask", "past_key_values", "moe_token_dispatcher_type",
    "moe_token_drop_policy", "pad_token_id", "add_bos_token", "calculate_per_token_loss",
    "image_token_id", "token_type_ids"])
def test_settings_of_a_model_are_no_secrets(name):
    assert not is_secret_name(name)
    assert mask_tree({name: "True"}) == {name: "True"}
    assert mask_text(f"{name}=True") == f"{name}=True"


@pytest.mark.parametrize("name", [
    "HF_TOKEN", "hub_token", "wandb_api_key", "OBS_ACCESS_KEY", "secret_key", "token", "key",
    "api_key_value", "ssh_key", "auth_token_id_secret", "ENCRYPTION_KEY", "layer_key"])
def test_secrets_that_look_like_settings_stay_masked(name):
    assert is_secret_name(name)


def test_masking_is_fast_enough_for_logs():
    line = " [2025-08-01] iteration 1/ 5000 | consumed samples: 128 | lm loss: 1.0E+01 | tokens 5\n"
    began = time.process_time()
    mask_text(line * 20_000)  # 1.7 MB
    assert time.process_time() - began < 5
