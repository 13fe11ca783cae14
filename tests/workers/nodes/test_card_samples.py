"""Cards are looked at while jobs run: cheaply on the node, thinly kept, alarms with a remedy."""

import os
import shutil
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.notices.models import Event
from engagements.models import Role
from workers import services
from workers.dispatch import node_polling, runner
from workers.models import Card, CardAlarm, Job, Node, NodeSample
from workers.nodes.card_leases import usable_cards
from workers.nodes.cards import samples
from workers.nodes.cards.looks import look_of
from workers.remote import scripts
from workers.remote.scripts import SAMPLE_MARK, Place

pytestmark = pytest.mark.django_db
TABLE = Path("tests/samples/node/24.1.rc1.b030_910B3_8cards.txt")
SHELLS = [shell for shell in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(shell[0])]
NPU_SMI = f"""#!/bin/sh
echo "$*" >> "$HOME/calls"
case "$*" in
    info) cat {TABLE.absolute()} ;;
    "info -l") printf '\\tTotal Count    : 2\\n\\tNPU ID     : 0\\n\\tNPU ID     : 3\\n' ;;
    *ecc*) printf '\\tNPU ID   : 0\\n\\tHBM Double Bit Error Count : 2\\n'
           printf '\\tHBM Double Bit Isolated Pages Count : 1\\n\\tChip ID  : 0\\n' ;;
esac
"""
HCCN = """#!/bin/sh
[ "$2" = 3 ] && echo "link status: DOWN" || echo "link status: UP"
"""


@pytest.fixture(params=SHELLS, ids=lambda shell: shell[0])
def poll(request, tmp_path):
    """Polls with stand-ins of the tools on the path, as a login on the node would."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (("npu-smi", NPU_SMI), ("hccn_tool", HCCN)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (tmp_path / "jobs").mkdir()
    script = scripts.poll_script([], [(Place("jobs", "desk-job-1-1-x"), 0, 100)], (), 30)

    def go() -> bytes:
        return subprocess.run(
            [*request.param, "-s"], input=script.encode(), capture_output=True, check=True,
            cwd=tmp_path, env={"HOME": str(tmp_path),
                               "PATH": f"{tools}:/usr/bin:/bin:/usr/sbin:/sbin"}).stdout

    return go


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def test_a_look_runs_beside_the_poll_and_is_told_once(poll, tmp_path):
    assert look_of(poll(), SAMPLE_MARK) is None
    wait_for(tmp_path / "jobs/.desk-sample")
    look = look_of(poll(), SAMPLE_MARK)
    card = look.cards[3]
    assert (len(look.cards), card.health, card.ecc_errors, card.link) == (8, "OK", 3, "DOWN")
    assert (look.cards[0].link, look.cards[1].link, look.cards[1].ecc_errors) == ("UP", "", None)
    assert card.temperature_c > 0
    assert look.memory_mb > 0
    assert look_of(poll(), SAMPLE_MARK) is None
    assert (tmp_path / "calls").read_text().split("\n")[0] == "info"
    assert (tmp_path / "calls").read_text().count("info\n") == 1, "not before 30 seconds are over"


def test_a_hanging_tool_holds_up_no_poll_and_is_not_started_again(poll, tmp_path):
    (tmp_path / "tools/npu-smi").write_text(
        "#!/bin/sh\necho x >> $HOME/hung\nread -r _end < $HOME/end\n")
    os.mkfifo(tmp_path / "end")
    poll()
    wait_for(tmp_path / "hung")
    state = tmp_path / "jobs/.desk-sampled"
    _last, looker, long = state.read_text().split()
    state.write_text(f"{int(time.time()) - 40} {looker} {long}\n")
    poll()
    assert (tmp_path / "hung").read_text() == "x\n"
    (tmp_path / "end").write_text("\n")  # waits for its reader: the tool still hangs
    (tmp_path / "end").unlink()


def answer(table: str, taken=0, more="") -> bytes:
    now = int(time.time())
    return (f"desk x\n\n{SAMPLE_MARK} {now}\ndesk taken {now - taken}\ndesk load 1.5\n"
            f"desk memory MemTotal: 2048000\ndesk memory MemAvailable: 1024000\n"
            f"desk npu-smi\n{table}\n{more}desk end\n").encode()


@pytest.fixture
def shared(people):
    found = Node.objects.create(name="n1", host="127.0.0.1", username="root", state="ready",
                                cards_total=8)
    Card.objects.bulk_create(Card(node=found, index=i, health="OK", read_at=timezone.now())
                             for i in range(8))
    return found


def test_alarms_open_once_tell_operators_and_end(shared, people, client):
    good = TABLE.read_text()
    bad = good.replace("| OK            |", "| Alarm         |", 1)
    assert bad != good
    samples.keep(shared, answer(good, more="desk ecc 0\nNPU ID : 0\nDouble-bit Error Count : 1\n"),
                 SAMPLE_MARK)
    assert not CardAlarm.objects.exists(), "the first count is where growth is counted from"
    for _time in range(2):
        samples.keep(shared, answer(bad, more="desk ecc 0\nNPU ID : 0\nDouble-bit Error Count : 4\n"
                                    "desk link 1\nlink status: DOWN\n"), SAMPLE_MARK)
    found = CardAlarm.objects.order_by("kind").values_list("kind", "card_index", "value")
    assert list(found) == [("ecc", 0, "1 → 4"), ("health", 0, "Alarm"), ("link", 1, "DOWN")]
    assert 0 not in usable_cards(shared)
    assert sorted(Event.objects.values_list("kind", flat=True)) == [
        "card_ecc", "card_health", "card_link"]
    client.force_login(people[Role.OPERATOR])
    assert b"npu-smi set -t reset" in client.get(reverse("workers:node", args=[shared.pk])).content
    samples.keep(shared, answer(good, more="desk link 1\nlink status: UP\n"), SAMPLE_MARK)
    assert list(CardAlarm.objects.filter(cleared_at=None).values_list("kind", flat=True)) == ["ecc"]


def test_answers_of_jobs_and_cut_ones_are_no_looks(shared):
    text = answer(TABLE.read_text())
    for output in (text.replace(SAMPLE_MARK.encode(), b"desk sample 0000"),
                   text.removesuffix(b"desk end\n"), answer("", taken=9999), b""):
        samples.keep(shared, output, SAMPLE_MARK)
    assert not NodeSample.objects.exists()


def test_what_no_card_can_have_is_not_kept(shared):
    table = TABLE.read_text()
    row = next(line for line in table.splitlines() if "| OK " in line)
    power, heat = row.split("|")[3].split()[:2]
    hostile = row.replace("| OK ", f"| {'A' * 90} ", 1).replace(power, "1e999", 1).replace(
        f" {heat} ", " nan ", 1)
    samples.keep(shared, answer(table.replace(row, hostile, 1)), SAMPLE_MARK)
    assert NodeSample.objects.get().cards["0"][2] is None
    assert len(Card.objects.get(node=shared, index=0).health) == 20


def test_gpus_are_read_too():
    look = look_of(answer("").replace(
        b"desk npu-smi", b"desk nvidia-smi\n0, 87, 40000, 81559, 512.31, 64, 0\n"
                         b"1, [N/A], 12, 81559, [N/A], 31, [N/A]"), SAMPLE_MARK)
    assert (look.cards[0].utilisation, look.cards[0].power_w, look.cards[1].power_w) == (
        87, 512.31, None)


def test_old_looks_become_means_and_go(shared):
    now = timezone.now()
    begun = samples._slot(now - timedelta(days=2), 300)
    for n in range(20):  # ten minutes
        NodeSample.objects.create(node=shared, at=begun + timedelta(seconds=30 * n), load=n,
                                  cards={0: [n, 100, None, 40]})
    NodeSample.objects.create(node=shared, at=now, cards={0: [1, 1, 1, 1]})
    hour = samples._slot(now - timedelta(days=40), 3600)
    for n in range(12):
        NodeSample.objects.create(node=shared, at=hour + timedelta(minutes=5 * n), seconds=300,
                                  cards={0: [n, 100, None, 40]})
    NodeSample.objects.create(node=shared, at=now - timedelta(days=401), seconds=3600)
    samples.thin(now)
    samples.thin(now)
    assert [(row.seconds, row.cards["0"], row.load) for row in NodeSample.objects.all()] == [
        (3600, [5.5, 100, None, 40], None), (300, [4.5, 100, None, 40], 4.5),
        (300, [14.5, 100, None, 40], 14.5),
        (0, [1, 1, 1, 1], None)]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_cards_of_a_running_job_are_charted_on_its_page(queue, node, people, client, settings):
    settings.SAMPLE_SECONDS = 1
    job = queue("sleep 30", cards=1)
    deadline = time.monotonic() + 60
    while NodeSample.objects.count() < 3 and time.monotonic() < deadline:
        node_polling.poll_nodes([node.pk])
        time.sleep(0.1)
    client.force_login(people[Role.OPERATOR])
    page = client.get(reverse("workers:job", args=[job.pk])).content.decode()
    chart = client.get(reverse("workers:job", args=[job.pk])).context["charts"][0]
    assert chart.summary in page
    assert [line.name for line in chart.lines] == ["卡 0"]
    assert len(chart.y_ticks) > 2
    services.cancel_job(actor=people[Role.CONSULTANT], job=Job.objects.get(pk=job.pk))
    while Job.objects.in_flight().exists() and time.monotonic() < deadline:
        node_polling.poll_nodes([node.pk])
        for pk in node_polling.due_jobs():
            runner.advance_while_due(pk)


def test_samples_and_alarms_by_the_api(shared, people, client):
    now = timezone.now()
    for minutes in (1, 5, 30):
        NodeSample.objects.create(node=shared, at=now - timedelta(minutes=minutes), load=minutes,
                                  cards={"10": [5, 1, 2, 3], "2": [None, 1, 2, 3]})
    CardAlarm.objects.create(node=shared, card_index=2, kind="heat", value="95", since=now,
                             seen_at=now)
    client.force_login(people[Role.CONSULTANT])
    since = (now - timedelta(minutes=10)).isoformat().replace("+00:00", "Z")
    rows = client.get(f"/api/v1/node-samples/?node={shared.pk}&since={since}").json()["results"]
    assert [row["load"] for row in rows] == [5, 1]
    assert rows[0]["cards"] == [
        {"card": 2, "utilisation": None, "memory_mb": 1, "power_w": 2, "temperature_c": 3},
        {"card": 10, "utilisation": 5, "memory_mb": 1, "power_w": 2, "temperature_c": 3}]
    assert client.get("/api/v1/card-alarms/").json()["results"][0]["kind"] == "heat"
    client.force_login(people[Role.REVIEWER])
    for path in ("node-samples", "card-alarms"):
        assert client.get(f"/api/v1/{path}/").json()["results"] == []
