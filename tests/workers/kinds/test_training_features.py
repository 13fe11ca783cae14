"""Typed features of MindSpeed, levels of ASD, mpirun: what they become and what excludes what."""

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from tests.workers.kinds.outputs import good, text_of
from workers import kinds
from workers.gangs.launchers import words
from workers.gangs.rendezvous import Rendezvous, Seat

kinds.load_all()


def argv(**values) -> str:
    with override("en"):
        kind = kinds.get("adapt.megatron_train")
        return " ".join(kind.argv(kind.clean(values)))


@pytest.mark.parametrize(("values", "options"), [
    ({"ffn_hidden_size": 11008, "init_std": 0.01, "vocabulary_divisor": 1, "no_bias": True,
      "softmax_fp32": True, "no_masked_softmax": True, "eval_iters": 10},
     ["--ffn-hidden-size 11008", "--init-method-std 0.01", "--make-vocab-size-divisible-by 1",
      "--disable-bias-linear", "--attention-softmax-in-fp32", "--no-masked-softmax-fusion",
      "--eval-iters 10"]),
    ({"precision": "fp16", "initial_loss_scale": 65536}, ["--initial-loss-scale 65536"]),
    ({"recompute": "selective"}, ["--recompute-activations"]),
    ({"recompute": "block", "recompute_layers": 4, "recompute_activation": True},
     ["--recompute-granularity full --recompute-method block", "--recompute-num-layers 4",
      "--recompute-activation-function"]),
    ({"mc2": True, "sequence_parallel": True}, ["--use-ascend-mc2", "--sequence-parallel"]),
    ({"overlap_grad_reduce": True, "overlap_param_gather": True, "distributed_optimizer": True},
     ["--overlap-grad-reduce", "--overlap-param-gather", "--use-distributed-optimizer"]),
    ({"swap_attention": True, "flash_attention": True, "recompute_layers": 1},
     ["--swap-attention", "--use-flash-attn", "--recompute-num-layers 1"]),
    ({"qat_scheme": "w4a16-mxfp4"}, ["--qat-scheme w4a16-mxfp4"])])
def test_features_become_options(values, options):
    command = argv(**values)
    assert [option for option in options if option not in command] == []


def test_nothing_is_added_that_was_not_chosen():
    assert not {"--recompute-activations", "--use-flash-attn", "--qat-scheme", "--loss-scale"
                } & set(argv().split())


def test_skipped_data_and_resumption_are_parameters_of_the_run():
    """Seed S0: data of a loss spike are skipped, and training resumes from an earlier state."""
    command = argv(skip_iterations="134, 120,130-132", load="/share/ckpt")
    assert "--iterations-to-skip 120 130 131 132 134 " in command
    assert "--load /share/ckpt" in command
    assert not {"--iterations-to-skip", "--load"} & set(argv().split())


@pytest.mark.parametrize("text", ["0", "5-3", "x", "201", "1-20000", "-4", "3--4"])
def test_what_are_no_iterations_of_the_training_is_refused(text):
    with pytest.raises(InvalidInput, match="from 1 to 200"):
        argv(skip_iterations=text)


@pytest.mark.parametrize(("values", "why"), [
    ({"mc2": True}, "MC2 needs tensor and sequence"),
    ({"overlap_param_gather": True}, "needs the distributed optimizer"),
    ({"swap_attention": True}, "needs flash attention"),
    ({"recompute": "uniform"}, "needs the number of layers"),
    ({"recompute_layers": 2}, "go with full recomputation"),
    ({"recompute": "uniform", "recompute_layers": 2, "recompute_activation": True}, "by block"),
    ({"loss_scale": 128}, "for fp16"),
    ({"precision": "fp16", "loss_scale": 128, "initial_loss_scale": 128}, "Either a fixed")])
def test_what_excludes_each_other_is_refused(values, why):
    with pytest.raises(InvalidInput, match=why):
        argv(**values)


def asd(**values) -> dict:
    with override("en"):
        kind = kinds.get("acc.asd_run")
        return kind.environment(kind.clean({"script": "t.py", **values}))


def test_levels_and_checksum_of_the_detection_follow_the_release():
    assert asd(torch_npu="to_7.0.0", level="3")["NPU_ASD_ENABLE"] == "3"
    assert asd(checksum=True, sample_interval=1)["NPU_ASD_CONFIG"] == (
        "enable:true,with_checksum:true,grad_sample_interval:1")
    assert asd()["NPU_ASD_CONFIG"] == "enable:true"


@pytest.mark.parametrize("values", [
    {"level": "2"}, {"torch_npu": "to_7.0.0", "checksum": True},
    {"checksum": True, "dtype": "fp32"}])
def test_settings_of_another_release_are_refused(values):
    with pytest.raises(InvalidInput):
        asd(**values)


@pytest.mark.parametrize("line", [
    "[W compiler_depend.ts:1] feature detection detects abnormal results",
    "The result of Matmul checksum is abnormal"])
def test_torch_npu_s_own_alarms_are_found(judge, line):
    files = good("acc.asd_run")
    files["log.txt"] += line.encode() + b"\n"
    judgement = judge("acc.asd_run", files, cards=1)
    assert not judgement.is_success
    assert text_of(judgement).startswith("1 alarm of the detection, first: ")


def test_mpirun_starts_one_process_per_card():
    assert words("mpirun", "python3", 8)[:3] == ["mpirun", "-n", "8"]
    seats = (Seat("10.0.0.1", cards=(0, 1)), Seat("10.0.0.2", cards=(0, 1)))
    first = words("mpirun", "python3", 2, Rendezvous(seats, 21_000))
    assert first[first.index("mpirun", 4):][:5] == [
        "mpirun", "-n", "4", "--hostfile", "mpi_hostfile"]
    assert words("mpirun", "python3", 2, Rendezvous(seats, 21_000, rank=1))[-1] == "follow"
