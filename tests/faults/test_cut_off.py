"""A host that vanishes while it holds a lock in PostgreSQL: others go on within a minute."""

import os
import subprocess
import sys
import time

import pytest

from tests.faults import hosts
from tests.faults.desk import ROOT
from tests.faults.nodes import can_run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_run(), reason="needs root and sshd"),
              pytest.mark.skipif(bool(hosts.missing()), reason=hosts.missing())]
HOLDER = """
import django; django.setup()
from django.db import connection, transaction
with transaction.atomic(), connection.cursor() as cursor:
    cursor.execute("select pg_advisory_xact_lock(7)")
    print("held", flush=True)
    import time; time.sleep(600)
"""
WAITER = """
import django; django.setup()
from django.db import connection, transaction
with transaction.atomic(), connection.cursor() as cursor:
    cursor.execute("select pg_advisory_xact_lock(7)")
"""


@pytest.fixture
def desk(tmp_path):
    made = hosts.TwoHostDesk(tmp_path / "desk")
    yield made
    made.stop()


def test_locks_of_a_vanished_host_are_released(desk):
    environment = {**os.environ, **desk.environment}
    host = desk.hosts["a"]
    holder = subprocess.Popen(host.inside([sys.executable, "-c", HOLDER]), cwd=ROOT,
                              env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        host.cut_off(True)
        begun = time.monotonic()
        subprocess.run([sys.executable, "-c", WAITER], cwd=ROOT, env=environment, check=True,
                       timeout=60)
        print(f"released after {time.monotonic() - begun:.0f} s")
        assert time.monotonic() - begun > 5  # else the lock was not held
    finally:
        holder.kill()
        holder.wait()
