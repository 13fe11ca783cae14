"""Arguments that a run prints at its start, and the rules that they answer."""

import pytest

from toolreaders import read_file
from workers.rules import Facts, check
from workers.rules.facts.base import Seen, observed

DUMP = """using world size: 16, data-parallel size: 4, context-parallel size: 1, \
tensor-model-parallel size: 2, pipeline-model-parallel size: 2
------------------------ arguments ------------------------
  bf16 ............................................ True
  data_path ....................................... ['/data/enwiki_text_document']
  fp16 ............................................ False
  global_batch_size ............................... 30
  hidden_size ..................................... 4096
  lr .............................................. 1.25e-06
  lr_warmup_fraction .............................. 0.01
  lr_warmup_iters ................................. 0
  micro_batch_size ................................ 4
  num_attention_heads ............................. 32
  num_layers ...................................... 32
  num_layers_per_virtual_pipeline_stage ........... None
  pipeline_model_parallel_size .................... 2
  tensor_model_parallel_size ...................... 2
  train_iters ..................................... 2000
  wandb_api_key ................................... 0123456789abcdef0123456789abcdef01234567
  world_size ...................................... 16
-------------------- end of arguments ---------------------
"""
LINE = (" iteration {0:8d}/    2000 | consumed samples: 1 | elapsed time per iteration (ms): 5.0 | "
        "global batch size: 30 | lm loss: 1.0E+00 | loss scale: 1.0 | grad norm: 1.0 |\n")


def facts_of(reading) -> Facts:
    warnings = [vars(warning) for warning in reading.warnings]
    seen = Seen(reading.kind, "train.log", reading.values, warnings)
    return Facts({found.name: found.value for found in observed(seen)})


def test_a_run_that_never_began(written):
    reading = read_file(written(DUMP))
    assert (reading.kind, reading.reader) == ("training_arguments", "megatron_arguments")
    assert reading.values["arguments"]["lr"] == "1.25e-06"
    assert reading.values["lines"]["lr"] == 8
    assert "num_layers_per_virtual_pipeline_stage" not in reading.values["arguments"]
    assert "0123456789abcdef" not in str(reading.values)
    assert [warning.code for warning in reading.warnings] == ["no_iterations"]


def test_arguments_of_a_log_with_iterations(written):
    prefixed = "".join(f"[default0]:{line}\n" for line in DUMP.splitlines())
    reading = read_file(written(prefixed + "".join(map(LINE.format, range(1, 4)))))
    assert reading.reader == "megatron_log"
    assert reading.values["started"]["tp"] == 2
    assert reading.values["started"]["arguments"]["train_iters"] == "2000"
    assert reading.values["lines"]["train_iters"] == 17


def test_tokens_per_second_follow_from_the_arguments(written):
    logged = "".join(map(LINE.format, range(1, 8)))
    for more, expected in (("  seq_length ... 4096\n", (4096, 6000 * 4096)), ("", (None, None)), (
            "  seq_length ... 4096\n  variable_seq_lengths ... True\n", (None, None))):
        rates = read_file(written(DUMP.replace("  train_iters", f"{more}  train_iters") + logged)
                          ).values["throughput"]
        assert (rates.get("sequence_length"), rates.get("derived_tokens_per_second")) == expected
        assert rates["samples_per_second"] == 6000


# Seed 001, 2.3, as it prints the file.
MSPROBE = """{ "dump": { "common_dump_settings": { "dump_mode": "api",
"dump_path": "./msprobe_dump_data", "dump_iter": "10|20" // 只在第10和20个iteration进行dump
}, "api_list": [ { "name": "torch.nn.functional.conv2d", "api_type": "forward" },
{ "name": "my_model.layer1.0.conv1", // 支持Module路径
"api_type": "forward" } ] } }"""


def test_msprobe_json_of_tutorials_is_known_beside_today_s(written):
    reading = read_file(written(MSPROBE, "msprobe.json"))
    assert (reading.kind, reading.values["level"], reading.values["steps"]) == (
        "dump_config", "api", [10, 20])
    assert reading.values["apis"] == ["torch.nn.functional.conv2d", "my_model.layer1.0.conv1"]
    assert [warning.code for warning in reading.warnings] == ["other_form"]


def test_the_rules_judge_what_the_run_printed(written):
    facts = facts_of(read_file(written(DUMP)))
    assert facts["world_size"] == 16
    assert (facts["data_path"], facts["dtype"]) == ("/data/enwiki_text_document", "bf16")
    assert "warmup_steps" not in facts
    hits = {hit.rule for hit in check(facts).hits}
    assert "R-PAR-04" in hits  # 30 samples over micro batches of 4 on 4 replicas
    assert not {"R-PAR-02", "R-PAR-05", "R-PAR-06"} & hits


def test_a_cut_list_says_so(written):
    reading = read_file(written(DUMP[:400]))
    assert [warning.code for warning in reading.warnings] == ["no_iterations", "truncated_record"]


@pytest.mark.slow
def test_no_iteration_is_said_of_the_whole_file_alone(written):
    chatter = "INFO compiling a kernel, please wait\n" * 500_000  # 18 MB
    reading = read_file(written(DUMP + chatter + "".join(map(LINE.format, range(1, 4)))))
    assert (reading.kind, reading.values["loss"]["points"]) == ("training_log", 3)
    assert reading.values["started"]["arguments"]["train_iters"] == "2000"
    assert read_file(written(DUMP + chatter)).reader == "megatron_arguments"
