"""The scripts of a node, run by every shell they must work under."""

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from workers.artifacts import node_folders, transfer
from workers.models import Job, Node
from workers.nodes.ssh import Answer, AnswerIncomplete
from workers.remote import job_logs, replies, scripts, survivors
from workers.remote.replies import RemoteState
from workers.remote.scripts import Place
from workers.runtimes import command
from workers.runtimes.chosen import Chosen
from workers.runtimes.command import Launch

# A script looks for its job in all processes of the host: other runs of these tests have others.
NAME = f"desk-job-1-{os.getpid()}-x"
PLACE = Place("jobs", NAME)

SHELLS = [s for s in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(s[0])]


@pytest.fixture(params=[
    pytest.param(shell, id=shell[0], marks=[pytest.mark.slow] if shell[0] == "busybox" else [])
    for shell in SHELLS])
def run(request, tmp_path):
    """Runs a script as a login on the node would, and returns its output."""

    def go(script: str) -> bytes:
        return subprocess.run(
            [*request.param, "-s"], input=script.encode(), capture_output=True, check=True,
            env=go.environment).stdout

    go.environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    return go


@pytest.fixture
def ran(tmp_path, run):
    """Which programs scripts run, in their order, but for pauses: each stands on the path behind a
    stand-in that notes its name."""
    programs, book = tmp_path / "programs", tmp_path / "book"
    programs.mkdir()
    for name in ("cat", "date", "dd", "df", "find", "grep", "head", "ln", "mkdir", "rm", "rmdir",
                 "setsid", "sh", "stat", "tail", "wc"):
        (programs / name).write_text(
            f'#!/bin/dash\necho {name} >> {book}\nexec {shutil.which(name)} "$@"\n')
        (programs / name).chmod(0o755)
    run.environment["PATH"] = f"{programs}:{run.environment['PATH']}"

    def since() -> list[str]:
        found = book.read_text().split() if book.exists() else []
        book.unlink(missing_ok=True)
        return found

    return since


def start(run, argv, name=NAME):
    return run(scripts.poll_script([(Place("jobs", name), command.text(Launch(argv), Chosen(),
                                                                   Node()))], []))


def poll(run, name=NAME, offset=0, limit=10_000, known=()) -> RemoteState:
    job = Job(state="running", log_offset=offset)
    place = Place("jobs", name, known)
    answer = run(scripts.poll_script([], [(place, offset, limit)]))
    job.pk, job.attempt, job.token = 1, 1, "x"
    return replies.parse(answer.replace(name.encode(), job.directory_name.encode()),
                         [job])[1]


def wait(run, name=NAME, offset=0) -> RemoteState:
    return until(lambda state: state.process == "gone", lambda: poll(run, name, offset))


def until(is_reached, look, seconds=60):
    """What `look` sees once it is as wanted; the time is for a busy machine."""
    end = time.monotonic() + seconds
    while not is_reached(seen := look()):
        assert time.monotonic() < end, f"still {seen}"
        time.sleep(0.05)
    return seen


def start_and_begin(run, folder, script: str) -> bytes:
    """Start a shell script and wait until the node runs it."""
    answer = start(run, ["sh", "-c", f"touch ../../../begun; {script}"])
    until(bool, (folder / "begun").exists)
    return answer


def test_exit_status_and_log_come_back(run):
    answer = start(run, ["sh", "-c", "echo one; echo two >&2; exit 7"])
    assert answer.startswith(f"desk start {NAME} started ".encode())
    state = wait(run)
    assert (state.exit_status, state.chunk) == (7, b"one\ntwo\n")


def test_a_tool_that_asks_gets_no_answer(run):
    """Neither the rest of our script nor a waiting line: it sees the end at once."""
    start(run, ["sh", "-c", "printf 'Continue? '; read -r answer; echo \"$? [$answer]\""])
    state = wait(run)
    assert (state.exit_status, state.chunk) == (0, b"Continue? 1 []\n")


def test_second_start_does_not_run_it_again(run, tmp_path):
    argv = ["sh", "-c", "echo ran >> ../../../count"]
    for _try in range(3):
        start(run, argv)
    wait(run)
    assert (tmp_path / "count").read_text() == "ran\n"


def test_arguments_reach_the_command_as_they_are(run):
    strange = ["a b", "$(id)", "'", '"', "`x`", "*", "\\", "中文", "~"]
    start(run, ["printf", "%s\\n", *strange])
    assert wait(run).chunk.decode().splitlines() == [*strange[:-1], wait_home(run)]


def wait_home(run) -> str:
    return run('printf "%s" "$HOME"').decode()


@pytest.mark.slow
def test_killed_wrapper_is_lost_and_its_child_is_an_orphan(run, tmp_path):
    answer = start(run, ["sh", "-c", "touch begun; exec sleep 30"])
    begun = tmp_path / "jobs" / NAME / "work" / "begun"
    while not begun.exists():
        time.sleep(0.02)
    pid = answer.split()[4].decode()
    run(f"kill -9 {pid}; sleep 0.2")
    state = poll(run)
    assert (state.exit_status, state.process) == (None, "orphans")
    assert run(scripts.cancel_script(PLACE, "KILL")).endswith(b"desk left 0\n")
    assert wait(run).is_lost({"boot_id": state.boot_id})


@pytest.mark.slow
def test_term_ends_the_whole_group_and_leaves_a_status(run, tmp_path):
    start_and_begin(run, tmp_path, "sleep 30 & sleep 30")
    run(scripts.cancel_script(PLACE, "TERM"))
    assert wait(run).exit_status == 143


def test_log_is_read_on_from_an_offset(run):
    start(run, ["printf", "0123456789"])
    wait(run)
    state = poll(run, offset=4, limit=3)
    assert (state.chunk, state.has_more_log) == (b"456", True)


WITH_PROGRAMS = pytest.mark.parametrize(  # busybox runs its own before those on the path
    "run", [shell for shell in SHELLS if shell[0] != "busybox"], indirect=True,
    ids=lambda shell: shell[0])


@pytest.mark.slow
@WITH_PROGRAMS
def test_a_poll_runs_one_program_and_one_more_for_what_is_new(run, ran, tmp_path):
    start(run, ["sh", "-c", "echo begun; while [ ! -f go ]; do sleep 0.05; done; echo more; "
                "sleep 9"])
    ran()
    assert (poll(run, offset=6).chunk, ran()) == (b"", ["stat"])
    (tmp_path / "jobs" / NAME / "work" / "go").touch()
    until(lambda log: b"more" in log, (tmp_path / "jobs" / NAME / "log").read_bytes)
    assert (poll(run, offset=6).chunk, ran()) == (b"more\n", ["stat", "dd"])
    run(scripts.cancel_script(PLACE, "KILL"))


@WITH_PROGRAMS
def test_a_start_runs_few_programs(run, ran, tmp_path):
    start(run, ["true"], "desk-job-1-1-installs")
    until(os.path.exists, lambda: tmp_path / "jobs" / "desk-job-1-1-installs" / "exit")
    ran()
    start(run, ["true"])
    until(os.path.exists, lambda: tmp_path / "jobs" / NAME / "exit")
    assert sorted(ran()) == ["df", "ln", "mkdir", "setsid", "sh", "sh"]
    state = wait(run)
    assert (state.exit_status, state.process) == (0, "gone")
    assert {"rmdir", "grep", "stat"} >= set(ran())


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="makes a namespace of processes, which needs root")
def test_a_start_and_a_poll_are_few_processes_whatever_the_load(tmp_path):
    """Pauses and forks of the shell included, as the namespace numbers them; the start of a job
    that is told to have ended in the same visit, and a poll with news."""
    place, counts = Place("jobs", NAME), []
    polled = scripts.poll_script([], [(place, 4, 9999)], {NAME})
    for argv in (["echo", "done"], ["sh", "-c", "echo one; echo two; exec sleep 30"]):
        order = (place, command.text(Launch(argv), Chosen(), Node()))
        (tmp_path / "start").write_text(scripts.poll_script([order], [(place, 0, 9999)], {NAME}))
        (tmp_path / "poll").write_text(polled)
        for _installs in range(2):
            shutil.rmtree(tmp_path / "jobs" / NAME, ignore_errors=True)
            told = subprocess.run(
                ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", """
                 last() { read -r number < /proc/sys/kernel/ns_last_pid; echo "$number"; }
                 last; sh -s < start > said
                 while read -r pid _ < "jobs/$1/pid" && [ -d "/proc/$pid" ] && [ $2 = echo ]
                 do :; done; last; sh -s < poll > /dev/null; last""", "sh", NAME, argv[0]],
                check=True, capture_output=True, cwd=tmp_path, text=True,
                env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}).stdout.split()
        first, second, third = map(int, told)
        counts.append((second - first, third - second))
    (short, _ended), (long, poll_of_long) = counts
    assert (short <= 12, long <= 12, poll_of_long <= 3) == (True, True, True), counts


@WITH_PROGRAMS
def test_tools_that_know_no_formats_and_flags_read_the_same(run, ran, tmp_path):
    for name in ("dd", "stat"):
        (tmp_path / "programs" / name).write_text("#!/bin/sh\necho invalid >&2; exit 1\n")
    start(run, ["printf", "one\ntwo\n"])
    wait(run)
    state = poll(run, offset=4, limit=3)
    assert (state.chunk, state.size, state.has_more_log) == (b"two", 8, True)
    assert abs(state.node_time.timestamp() - time.time()) < 60


def test_unwritable_scratch_is_refused_before_anything_starts(run, tmp_path):
    (tmp_path / "file").write_text("")
    script = scripts.poll_script([(Place("file/below", NAME), "exec true\n")], [])
    assert run(script) == f"desk start {NAME} refused not_writable\n".encode()


@pytest.mark.parametrize("share", [0.5, 0.9, 0.97, 0.999])
def test_script_that_arrives_cut_short_starts_nothing(tmp_path, share):
    script = scripts.poll_script(
        [(Place("jobs", f"desk-job-{n}-1-x"), "exec touch ../../../ran\n") for n in (1, 2)], [])
    script = script[:script.rindex("start_all")] + "start_all\n"  # without what follows it
    subprocess.run(["sh", "-s"], input=script[:int(len(script) * share)].encode(), check=False,
                   capture_output=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    time.sleep(0.2)
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_full_scratch_does_not_fail_what_runs_already(run, tmp_path):
    start(run, ["sleep", "5"])
    (tmp_path / "jobs").chmod(0o500)
    try:
        assert start(run, ["sleep", "5"]).startswith(f"desk start {NAME} started ".encode())
    finally:
        (tmp_path / "jobs").chmod(0o700)
        run(scripts.cancel_script(PLACE, "KILL"))


def test_absent_directory_is_said(run):
    state = poll(run, "desk-job-9-1-x")
    assert (state.is_present, state.process) == (False, "gone")


@pytest.mark.slow
def test_job_that_is_cancelled_before_its_start_never_starts(run, tmp_path):
    assert run(scripts.cancel_script(PLACE, "TERM")) == b"desk held\ndesk left 0\n"
    start(run, ["sh", "-c", "echo ran >> ../../../count"])
    time.sleep(0.3)
    assert not (tmp_path / "count").exists()


@pytest.mark.slow
def test_removed_folder_still_proves_the_start(run, tmp_path):
    argv = ["sh", "-c", "echo ran >> ../../../count"]
    start(run, argv)
    wait(run)
    assert run(scripts.remove_script(PLACE)) == b"desk removed\n"
    start(run, argv)
    time.sleep(0.3)
    assert (tmp_path / "count").read_text() == "ran\n"


@pytest.mark.slow
def test_vanished_folder_is_not_taken_for_an_ended_job(run, tmp_path):
    known = tuple(start_and_begin(run, tmp_path, "exec sleep 30").decode().split()[4:])
    shutil.rmtree(tmp_path / "jobs")
    state = poll(run, known=known)
    assert (state.is_present, state.process) == (False, "alive")
    run(scripts.cancel_script(Place("jobs", NAME, known), "KILL"))
    assert poll(run, known=known).process == "gone"


@pytest.mark.slow
def test_processes_left_behind_are_seen_after_the_exit(run):
    start(run, ["sh", "-c", "sleep 30 & exit 3"])
    state = until(lambda seen: seen.exit_status is not None and seen.process != "alive",
                  lambda: poll(run))
    assert (state.exit_status, state.process) == (3, "orphans")
    run(scripts.cancel_script(PLACE, "TERM"))
    assert poll(run).process == "gone"


STUBBORN = ("import os,signal,sys,time; os.setsid(); "
            "[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; "
            "open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)")


def start_stubborn(run, folder, before="", name=NAME) -> int:
    """A job whose child has a session of its own, ignores SIGTERM and lives under PID 1."""
    note = folder / "stubborn"
    argv = ["sh", "-c", f'({before} python3 -c "$0" "$1" & )', STUBBORN, str(note)]
    start(run, argv, name)
    until(lambda seen: seen, lambda: note.exists() and note.read_text())
    return int(note.read_text())


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_child_in_a_session_of_its_own_is_seen_and_ended(run, tmp_path):
    child = start_stubborn(run, tmp_path)
    state = until(lambda seen: seen.exit_status is not None, lambda: poll(run))
    assert (state.exit_status, state.process) == (0, "orphans")
    assert shown(run, scripts.survivors_script(PLACE, has_cards=False)).running == (
        (child, "python3"),)
    left = shown(run, scripts.cancel_script(PLACE, "TERM"))
    assert (left.running, left.is_gone) == (((child, "python3"),), False)
    left = shown(run, scripts.cancel_script(PLACE, "KILL"))
    assert (left.ended, left.running, left.is_gone) == (((child, "python3"),), (), True)
    assert not is_running(child)
    assert poll(run).process == "gone"


def shown(run, script) -> survivors.Survivors:
    return survivors.parse(Answer(0, run(script), b""))


@pytest.mark.slow
@pytest.mark.skipif(not any(os.access(f"/sys/fs/cgroup{place}/cgroup.procs", os.W_OK)
                            for place in ("", "/unified", "/systemd")),
                    reason="no control group can be made here")
def test_child_without_the_mark_is_found_in_the_control_group(run, tmp_path):
    child = start_stubborn(run, tmp_path, before="env -i PATH=/usr/bin:/bin")
    assert until(lambda seen: seen.exit_status is not None, lambda: poll(run)).process == "orphans"
    assert shown(run, scripts.cancel_script(PLACE, "KILL")).ended == ((child, "python3"),)
    assert not is_running(child)
    group = Path((tmp_path / "jobs" / NAME / "group").read_text().strip())
    (group / "nested").mkdir()
    assert poll(run).process == "gone"
    assert not group.exists()


@pytest.mark.slow
def test_processes_of_other_jobs_are_left_alone(run, tmp_path):
    child = start_stubborn(run, tmp_path, name="desk-job-2-1-x")
    start(run, ["sleep", "30"])
    run(scripts.cancel_script(PLACE, "KILL"))
    assert is_running(child)
    run(scripts.cancel_script(Place("jobs", "desk-job-2-1-x"), "KILL"))
    assert not is_running(child)


def test_what_npu_smi_shows_is_told_for_jobs_with_cards(run, tmp_path):
    tool = tmp_path / "npu-smi"
    tool.write_text("#!/bin/sh\necho '| 3       0        | 4711     | python3   | 2048     |'\n")
    tool.chmod(0o755)
    start(run, ["true"])
    script = f'PATH="$HOME:$PATH"\n{scripts.survivors_script(PLACE, has_cards=True)}'
    assert shown(run, script).on_cards == ((3, 4711, "python3"),)


def test_kills_for_want_of_memory_are_counted(run, tmp_path):
    """The counter of the kernel, before and after a command that failed."""
    start(run, ["sh", "-c", "exit 1"])
    assert wait(run).oom_kills == 0
    (tmp_path / "jobs" / NAME / "oom").write_text("2\n")
    assert poll(run).oom_kills == 2


@pytest.mark.slow
def test_many_jobs_are_told_apart_in_one_answer(run):
    for n in (1, 2, 3):
        start(run, ["printf", "desk desk-job-9-1-x log=5 %s\\n", str(n)], f"desk-job-{n}-1-x")
    wait(run, "desk-job-3-1-x")
    jobs = [Job(pk=n, attempt=1, token="x", log_offset=0) for n in (1, 2, 3)]
    answer = run(scripts.poll_script(
        [], [(Place("jobs", job.directory_name), 0, 1000) for job in jobs]))
    states = replies.parse(b"Welcome to node 7\n" + answer, jobs)
    assert [states[n].chunk for n in (1, 2, 3)] == [
        b"desk desk-job-9-1-x log=5 %d\n" % n for n in (1, 2, 3)]


def test_checksum_is_the_files_own_whatever_its_name(run, tmp_path):
    names = ["plain", "-n", "two words", "new\nline", "back\\slash", "quo'te\"", "中文", "*"]
    start(run, ["true"])
    wait(run)
    for name in names:
        (tmp_path / "jobs" / NAME / "work" / name).write_text(name)
    answer = run(scripts.digest_script(PLACE, names)).decode()
    assert transfer.read_digests(names, "Welcome\n" + answer) == {
        name: hashlib.sha256(name.encode()).hexdigest() for name in names}


@pytest.mark.parametrize("fact", ["log=-30", "log=x", "log=²", f"log={'9' * 30}"])
def test_answer_that_makes_no_sense_is_no_answer(fact):
    job = Job(pk=1, attempt=1, token="x", state="running")
    with pytest.raises(AnswerIncomplete):
        replies.parse(f"desk desk-job-1-1-x present=yes {fact}\n".encode(), [job])


def test_odd_facts_of_a_node_are_taken_for_none():
    job = Job(pk=1, attempt=1, token="x", state="running")
    line = f"desk desk-job-1-1-x status=99999 now={'9' * 12} beat=² size=-4 log=0\n"
    state = replies.parse(line.encode(), [job])[1]
    assert (state.exit_status, state.node_time, state.heartbeat_at, state.size) == (
        None, None, None, 0)


@pytest.mark.parametrize("run", [shell for shell in SHELLS if shell[0] != "busybox"],
                         indirect=True, ids=lambda shell: shell[0])  # it runs its own `stat`
def test_a_file_that_vanishes_while_it_is_listed_shifts_no_other_file_s_facts(run, tmp_path):
    work, programs = tmp_path / "jobs" / PLACE.directory / "work", tmp_path / "programs"
    work.mkdir(parents=True)
    programs.mkdir()
    for name, size in (("a.log", 1), ("b.log", 22), ("c.log", 333)):
        (work / name).write_bytes(b"x" * size)
    stat = programs / "stat"
    stat.write_text('#!/bin/sh\n[ -e ../vanished ] || { : > ../vanished; rm "$4"; }\n'
                    f'exec {shutil.which("stat")} "$@"\n')
    stat.chmod(0o755)
    answer = run(f"PATH={programs}:$PATH\n{job_logs.list_script(PLACE, ['*.log'])}")
    found = node_folders.entries_after(answer, b"desk tree 0\n")
    left = {path.name: path.stat().st_size for path in work.iterdir()}
    assert len(left) == 2
    assert {each.name: each.size for each in found} == left


@pytest.fixture
def small_disk(tmp_path):
    (tmp_path / "jobs").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", tmp_path / "jobs"],
                      check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    yield
    subprocess.run(["umount", "-l", tmp_path / "jobs"], check=True)


def test_the_exit_status_survives_a_disk_that_the_command_filled(run, small_disk):
    start(run, ["sh", "-c", "cat /dev/zero > big; exit 3"])
    assert wait(run).exit_status == 3


def test_what_is_written_from_elsewhere_into_the_log_covers_nothing(run, tmp_path):
    start(run, ["sh", "-c", "echo first; echo from elsewhere >> ../log; echo last"])
    assert wait(run).chunk == b"first\nfrom elsewhere\nlast\n"
