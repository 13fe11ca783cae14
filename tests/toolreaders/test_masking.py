"""One masker for logs, files and readings."""

import io
import time

import pytest

from toolreaders import masking
from toolreaders.masking import (
    MASK,
    is_secret_name,
    mask_bytes,
    mask_text,
    mask_tree,
    mask_value,
    safe_cut,
    text_pieces,
)

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


@pytest.mark.slow
def test_masking_is_fast_enough_for_logs():
    line = " [2025-08-01] iteration 1/ 5000 | consumed samples: 128 | lm loss: 1.0E+01 | tokens 5\n"
    began = time.process_time()
    mask_text(line * 20_000)  # 1.7 MB
    assert time.process_time() - began < 5


SECRETS = """\
HF_TOKEN WANDB_API_KEY AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID OBS_AK OBS_SK ak sk AK SK accessKey
secretKey private_key ssh_key SSL_KEY tlsKey encryption_key aes_key license_key master_key KEY key
password passwd PGPASSWORD DB_PASS MYSQL_PWD db.password kerberos_passphrase token authToken
access_token refresh-token GITHUB_TOKEN MODELSCOPE_API_TOKEN mytoken session_cookie Authorization
client_secret credentials basic_auth SWANLAB_KEY AZURE_PRIMARY_KEY storage_account_key hub_token
"""
HARMLESS = """
query_key_layer_scaling apply_query_key_layer_scaling key_layer key_padding_mask num_key_value_heads
query_key_value qk_layernorm key_dim key_size k_proj text_key json_keys label_keys prompt_key
image_key monitor_key sort_keys missing_keys unexpected_keys pad_token eos_token_id bos_token
add_bos_token token_type_ids num_tokens tokens tokens_per_second max_new_tokens min_tokens
special_tokens moe_token_dispatcher_type moe_token_drop_policy moe_expert_capacity_factor
tokenizer_model tokenizer_name_or_path tokenizers_parallelism pass_rate num_pass pass_at_k
forward_pass multi_pass author sklearn_version top_k task risk_k mask_ratio auth_type PWD OLDPWD
num_query_groups norm_key bypass compass passage token_level_loss image_token_id stop_token
"""
RANDOM = "Ab3x9Zq07Tt4mQ2w8Er5Yu"


@pytest.mark.parametrize("name", SECRETS.split())
@pytest.mark.parametrize("value", ["abc", "Hunter-2", "/x+y==", RANDOM, "1234567890"])
def test_what_a_secret_is_named_is_hidden(name, value):
    assert mask_value(name, value) == MASK
    assert mask_tree({name: [value]}) == {name: [MASK]}


@pytest.mark.parametrize("name", HARMLESS.split())
@pytest.mark.parametrize("value", [True, 1, 0.125, "selfattn", "content", "input_ids", "<pad>",
                                   "Qwen2.5-72B-Instruct", "Functional.conv2d.0.forward.input.0"])
def test_settings_of_a_model_are_kept(name, value):
    assert mask_value(name, value) == value
    assert mask_text(f"{name}={value}") == f"{name}={value}"


@pytest.mark.parametrize("name", ["data_key", "text_key", "prompt_key", "image_token"])
def test_a_random_value_is_hidden_where_the_name_leaves_doubt(name):
    assert mask_value(name, RANDOM) == MASK


@pytest.mark.parametrize("value", [None, True, False, "None", "false", ""])
@pytest.mark.parametrize("name", ["use_auth_token", "password", "token", "hub_token"])
def test_a_switch_is_no_secret(name, value):
    assert mask_value(name, value) == value


@pytest.mark.parametrize("text", [
    "OBS_SK=abcd", "export SSH_KEY='ab cd'", "ak: ABCDEF", "--db-pass hunter2", "DB_PASS=hunter2",
    "private_key: xyz", "session_cookie=abc", '"sk": "abc"', "WANDB_KEY = abc"])
def test_secrets_in_text_are_hidden(text):
    assert MASK in mask_text(text)
    assert mask_text(mask_text(text)) == mask_text(text)


@pytest.mark.parametrize("text", [
    "query_key_layer_scaling ......... True", "pad_token: <pad>", "passed: 12", "pass rate: 0.5",
    "first_pass=3", "task=train", "disk: 5", "risk: low", "top_k=50", "missing_keys: ['a.b']",
    "eos_token_id=151643", "sort_key=name", "compass_pass: 1"])
def test_other_text_is_kept(text):
    assert mask_text(text) == text


ACROSS = [KEY, "API_TOKEN=abc123", '"password": "two words"', "https://me:pw@host/x",
          "Authorization: Bearer abc.def", "hf_abcdefghijklmnopqrst", "--db-pass hunter2"]
"""What lies across the end of a piece."""


@pytest.mark.slow
@pytest.mark.parametrize("secret", ACROSS)
@pytest.mark.parametrize("between", ["\n", " ", ", "])
def test_a_secret_across_the_pieces_of_a_file_is_masked(secret, between, monkeypatch):
    """Whether the file has lines or is one line; wherever the pieces end."""
    monkeypatch.setattr(masking, "LONGEST_LINE", 2000)
    monkeypatch.setattr(masking, "AHEAD", 300)
    filling = f"risk: low{between}mask {between}中文{between}".encode() * 100
    for back in (*range(0, len(secret) + 10, 3), *range(290, 310)):
        data = filling[:2500 - back] + f"{between}{secret}{between}".encode() + filling
        pieces = list(text_pieces(io.BytesIO(data), 2500))
        assert len(pieces) > 1
        assert b"".join(map(mask_bytes, pieces)) == mask_bytes(data)
        assert MASK.encode() in mask_bytes(data)


def test_no_more_than_two_pieces_of_a_file_are_held():
    class Endless(io.RawIOBase):
        left = 40

        def read(self, size):
            self.left -= 1
            return b"x" * size if self.left else b""

    assert max(map(len, text_pieces(Endless(), 100_000))) <= 200_000


def test_a_long_log_is_not_cut_within_a_private_key():
    log = b"line\n" * 20_000 + KEY.encode()[:60]
    assert safe_cut(log) == 100_000


def test_bytes_that_are_no_utf8_are_kept():
    gbk = "密码 password: hunter2 口令\n".encode("gbk")
    assert mask_bytes(gbk) == gbk.replace(b"hunter2", MASK.encode())
