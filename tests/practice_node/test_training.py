"""The training stand-in: Megatron's lines from a computation that really happens."""

import asyncio
import re

import pytest

from practice_node.faults import set_faults
from toolreaders import read_file

TRAIN = ("torchrun --nproc_per_node 8 --master_port 6001 pretrain_gpt.py --train-iters {iters} "
         "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --micro-batch-size 1 "
         "--global-batch-size 16 --seq-length 1024 --seed {seed} --lr 0.0001 --log-interval 1 "
         "--practice-delay 0 {more}")
LINE = re.compile(
    r" \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] iteration +1/ +\d+ \| consumed samples: +16 \|"
    r" elapsed time per iteration \(ms\): \d+\.\d \| throughput per GPU \(TFLOP/s/GPU\): \d+\.\d \|"
    r" learning rate: 1\.000000E-04 \| global batch size: +16 \| lm loss: 2\.\d{6}E\+00 \|"
    r" loss scale: 1\.0 \| grad norm: \d\.\d{3} \| number of skipped iterations:   0 \|"
    r" number of nan iterations:   0 \|")


@pytest.fixture
def train(sh, work):
    """Trains in the test's folder; the answer, and the log's path and reading."""

    def go(iters=30, seed=1234, name="log", more="", before=""):
        command = TRAIN.format(iters=iters, seed=seed, more=more)
        answer = sh(f"cd {work.name}; {before} {command} > {name}")
        return answer, read_file(work / name).values["loss"]

    return go


def losses(path):
    return [float(x) for x in re.findall(r"lm loss: (\S+)", path.read_text())]


@pytest.mark.slow
def test_log_has_megatrons_lines_and_reads_whole(train, work):
    answer, loss = train(iters=200)
    assert answer.exit_status == 0
    assert LINE.search((work / "log").read_text())
    assert (loss["points"], loss["last_step"], loss["nonfinite"]) == (200, 200, 0)
    assert loss["last"] < loss["first"] - 0.1


@pytest.mark.slow
def test_devices_differ_a_little_and_seeds_differ_more(train, work):
    train(name="gpu", more="--practice-device gpu")
    train(name="npu")
    train(name="again")
    train(name="other", seed=7)
    gpu, npu, again, other = (losses(work / n) for n in ("gpu", "npu", "again", "other"))

    def error(a, b):
        return sum(abs(x - y) / y for x, y in zip(a, b, strict=True)) / len(a)

    assert npu == again
    assert 0 < error(npu, gpu) < 0.02
    assert error(npu, gpu) < error(other, gpu) / 3


def test_log_interval_prints_the_mean_since_the_last_print(train, work):
    train(iters=20, name="each")
    train(iters=20, name="tens", more="--log-interval 10")
    each, tens = losses(work / "each"), losses(work / "tens")
    assert tens == pytest.approx([sum(each[:10]) / 10, sum(each[10:]) / 10], abs=1e-6)


def test_checkpoint_is_written_as_megatron_does(train, work):
    train(iters=4, more="--save ck --save-interval 2")
    assert (work / "ck/latest_checkpointed_iteration.txt").read_text() == "4"
    first, last = (work / f"ck/iter_000000{i}/mp_rank_01/model_optim_rng.pt" for i in (2, 4))
    assert first.read_bytes() != last.read_bytes()


def test_more_processes_than_cards_are_refused(sh):
    answer = sh("ASCEND_RT_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 8 pretrain_gpt.py")
    assert answer.exit_status == 1
    assert "2 visible devices" in answer.stderr


def test_nan_from_the_asked_iteration_on(train, practice):
    set_faults(practice.root / "home", nan_loss=12)
    answer, loss = train()
    assert answer.exit_status == 0
    assert (loss["first_nonfinite_step"], loss["nonfinite"]) == (12, 19)


def test_faults_can_be_asked_for_by_variable(train):
    answer, loss = train(before="PRACTICE_FAULT=killed:6")
    assert (answer.exit_status, loss["last_step"]) == (137, 5)


def test_full_disk_is_said_and_fails(train):
    answer, loss = train(before="PRACTICE_FAULT=full_disk:6")
    assert (answer.exit_status, loss["last_step"]) == (1, 5)
    assert "[Errno 28] No space left on device" in answer.stderr


@pytest.mark.slow
def test_hanging_training_prints_nothing_more(over_ssh, work):
    command = TRAIN.format(iters=30, seed=1234, more="")

    async def go(connection):
        process = await connection.create_process(
            f"cd {work.name}; PRACTICE_FAULT=hang:6 {command}")
        while " iteration        5/" not in await process.stdout.readline():
            pass
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(process.stdout.readline(), 0.5)

    over_ssh(go)


@pytest.mark.slow
def test_slow_node_takes_longer(sh):
    def least(fault):
        log = sh(f"PRACTICE_FAULT={fault} practice_train --train-iters 8 --practice-delay 0.01")
        return min(map(float, re.findall(r"per iteration \(ms\): (\S+)", log.stdout)))

    assert least("slow") > least("none")
