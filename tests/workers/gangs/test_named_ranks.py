"""A rank whose log names another one's failure is not the culprit."""

import pytest

from workers.dispatch import gang_outcome
from workers.models import Job, JobState, Node


def member(rank: int, said: str, cards: int = 8, **columns) -> Job:
    node = Node(name=f"npu-{rank}", host=f"10.0.0.{rank + 1}")
    return Job(pk=rank + 1, node=node, rank=rank, technical_cause=said, cards_wanted=cards,
               state=JobState.FAILED, **columns)


OWN = member(1, "ModuleNotFoundError: No module named 'apex'")


@pytest.mark.parametrize("said", [
    "RuntimeError: [../gloo/transport/tcp/pair.cc] Connection closed by peer [10.0.0.2]:41233",
    "[rank0]: torch.distributed.DistBackendError: remote process of rank 9 exited",
    "[ERROR] HCCL: remoteRank[15] link is lost",
    "srun: error: npu-1: task 1: Exited with exit code 1",
])
def test_a_line_names_another_rank(said):
    assert gang_outcome.names(member(0, f"step 7 loss 2.0\n{said}\n"), OWN)
    assert not gang_outcome.names(OWN, member(0, said))


@pytest.mark.parametrize("said", [
    "[rank8]: RuntimeError: out of memory, training failed",  # whose line it is
    "RuntimeError: rank 7 failed",  # a process of its own node
    "connect to 10.0.0.21 failed", "npu-11 failed",
    "world size 16, rank 9 of 16 is ready on npu-1",
])
def test_a_line_that_names_no_failure_of_it(said):
    assert not gang_outcome.names(member(0, said), OWN)


def test_who_names_the_other_comes_after_it_though_it_ended_first(monkeypatch):
    first, then = member(0, "the node npu-1 is dead"), OWN
    monkeypatch.setattr(gang_outcome, "_ends", lambda members: {
        one.pk: 10.0 + 10 * one.rank for one in members})
    assert gang_outcome.first_failed([first, then]) == then
    accused = member(1, "lost connection to npu-0")  # each names the other: the time tells
    assert gang_outcome.first_failed([first, accused]) == first
