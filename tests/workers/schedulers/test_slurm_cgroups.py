"""A Slurm whose process tracking holds what leaves a job's tree (`proctrack/cgroup`)."""

import pytest

from tests.workers.schedulers.slurm_jobs import ended, runs, shown, until
from tests.workers.shell_kind import ShellKind
from tests.workers.slurm_cluster import lacks_cgroups, missing, running_slurm
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.kinds import base as registry
from workers.models import JobState
from workers.nodes import ssh

WHY_NOT = missing() or lacks_cgroups() or ("" if can_run() else "needs sshd")
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]
# A session, a parent and an environment of its own, and deaf to TERM.
LEAVES = ("env -i setsid sh -c \"trap '' TERM; exec 2>&-; while :; do sleep 87654; done\" & "
          "sleep 1; while :; do sleep 1; done")


@pytest.fixture
def node(people, tmp_path):
    with running_slurm(tmp_path / "slurm", tracking="proctrack/cgroup") as cluster, \
            running_sshd(tmp_path / "sshd", SLURM_CONF=cluster.config) as server:
        found = services.enrol_node(
            actor=people["operator"], name="cluster", host="127.0.0.1", port=server.port,
            username=USER, private_key=server.key, scheduler="slurm",
            scheduler_options={"partition": "npu"})
        yield services.confirm_host_key(actor=people["operator"], node=found,
                                        fingerprint=ssh.fingerprint(found.offered_host_key))
        ssh.close_all()


def test_what_left_the_tree_is_held_by_the_cgroup_and_ends_with_the_job(
        people, engagement, node, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    job = services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                             engagement=engagement, parameters={"script": LEAVES, "cards": 0})
    until(job, lambda job: job.state == JobState.RUNNING and runs("sleep 87654"))
    services.cancel_job(actor=people["consultant"], job=job)
    until(job, ended)
    assert job.state == JobState.CANCELLED
    assert shown(job) == "Cancelled; nothing of it runs any more."
    assert not runs("sleep 87654")
