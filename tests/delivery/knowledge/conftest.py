"""Jobs that failed as the desk diagnoses them, of two engagements."""

import pytest
from django.utils import timezone

from engagements.models import Customer, Engagement, Membership, Role
from workers.dispatch.endings import explained
from workers.logs.diagnosis import Part, find
from workers.models import Job, JobState, Node

SOFTWARE = {"cann": "8.0.RC2", "torch_npu": "2.1.0.post6", "driver": "24.1.rc2"}
HCCL = ("[rank0]: loading /data/grid-inspection/corpus on npu-grid-07 (10.20.30.41)\n"
        "[ERROR] 2025-06-24-10:02:11 (PID:77, Device:0, RankID:3) EI0002: The wait execution of "
        "the Notify register times out. Reason: remote rank 5 at 10.20.30.42 did not answer.\n")
OPERATOR = ("EZ3003: No supported Ops kernel and engine are found for [Einsum_12], "
            "optype [Einsum].\n")
ASSERTION = ("Traceback (most recent call last):\n"
             "  File \"/home/liwei/train.py\", line 31, in <module>\n"
             "RuntimeError: The size of tensor a (4096) must match the size of tensor b (2048) "
             "at non-singleton dimension 2 in /home/liwei/attention.py\n")


@pytest.fixture
def node(db) -> Node:
    return Node.objects.create(name="npu-grid-07", host="10.20.30.41", username="desk",
                               software=SOFTWARE, state=Node.State.READY, cards_total=8)


@pytest.fixture
def fail(engagement, node, people):
    """A job of the engagement that failed with a log, diagnosed as the runner does it."""
    def failed(log: str, **fields) -> Job:
        ending = explained(
            {"message": "The command ended with exit status %(status)d.", "results": {},
             "message_values": {"status": 1}}, find([Part(log)], 1), log)
        return Job.objects.create(**{
            "kind": "adapt.smoke_train", "engagement": engagement, "node": node,
            "created_by": people[Role.CONSULTANT], "state": JobState.FAILED, "exit_status": 1,
            "finished_at": timezone.now(), **ending, **fields})

    return failed


@pytest.fixture
def succeed(engagement, node):
    def succeeded(**fields) -> Job:
        return Job.objects.create(**{
            "kind": "adapt.smoke_train", "engagement": engagement, "node": node,
            "state": JobState.SUCCEEDED, "finished_at": timezone.now(), **fields})

    return succeeded


@pytest.fixture
def elsewhere(stranger) -> Engagement:
    """Another customer's engagement, whose consultant sees nothing of the first."""
    found = Engagement.objects.create(
        code="WT77", name="风电巡检", customer=Customer.objects.create(
            name="远海风电股份有限公司", contact_name="周文渊"))
    Membership.objects.create(engagement=found, user=stranger, role=Role.CONSULTANT)
    return found
