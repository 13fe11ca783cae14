"""The SSH server of the practice node, by the real asyncssh client."""

import asyncio
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import asyncssh
import pytest

from practice_node.server import running_practice_node
from tests.practice_node.conftest import log_in
from tests.processes import is_running


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_exit_status_comes_back(sh, status):
    assert sh(f"exit {status}").exit_status == status


def test_death_by_signal_is_told_as_a_signal(sh):
    answer = sh("kill -9 $$")
    assert (answer.exit_signal[0], answer.exit_status) == ("KILL", -1)


def test_streams_are_apart_and_binary(sh):
    payload = bytes(range(256)) * 400
    answer = sh("cat; printf oops >&2", input=payload, encoding=None)
    assert (answer.stdout, answer.stderr) == (payload, b"oops")


def test_errors_are_told_after_the_output_was_closed(sh):
    assert sh("echo a; exec >&-; sleep 0.1; echo b >&2").stderr == "b\n"


def test_command_starts_at_home_with_a_clean_environment(sh, practice, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "of the portal")
    lines = sh("pwd; env").stdout.splitlines()
    names = {line.split("=", 1)[0] for line in lines[1:]}
    assert lines[0] == str(practice.root / "home")
    assert names <= {"HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "PATH", "PWD",
                     "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "OLDPWD", "SHLVL", "_"}


def test_client_signal_reaches_the_command(over_ssh):
    async def go(connection):
        process = await connection.create_process("trap 'echo got; exit 3' TERM; echo up; "
                                                  "while :; do sleep 0.05; done")
        await process.stdout.readline()
        process.send_signal("TERM")
        return await process.wait()

    answer = over_ssh(go)
    assert (answer.stdout, answer.exit_status) == ("got\n", 3)


def _wait_until(condition, seconds=60.0) -> bool:  # for a busy machine
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_broken_connection_ends_the_command_but_not_a_detached_job(practice, work):
    script = (f"cd {work.name}; setsid sh -c 'echo $$ > new; mv new detached; exec sleep 30' "
              "< /dev/null > /dev/null 2>&1 & "
              f"cd {work.name}; echo $$ > attached; echo ready; sleep 30")

    async def go():
        connection = await log_in(practice)
        process = await connection.create_process(script)
        await process.stdout.readline()
        await asyncio.to_thread(_wait_until, (work / "detached").exists)
        connection.abort()
        await connection.wait_closed()

    asyncio.run(go())
    attached, detached = (int((work / n).read_text()) for n in ("attached", "detached"))
    assert _wait_until(lambda: not is_running(attached))
    assert is_running(detached)
    os.kill(detached, signal.SIGKILL)


@pytest.mark.slow
def test_big_file_streams_whole_without_filling_memory(over_ssh, work):
    size = 96 * 1024**2
    (work / "big").write_bytes(os.urandom(1024**2) * (size // 1024**2))
    before = _resident()

    async def go(connection):
        digest, highest = hashlib.sha256(), 0
        async with connection.create_process(f"cat {work.name}/big", encoding=None) as process:
            await asyncio.sleep(0.5)  # a slow reader: the rest must wait on the node
            highest = _resident()
            while chunk := await process.stdout.read(1 << 18):
                digest.update(chunk)
        return digest.hexdigest(), highest

    digest, highest = over_ssh(go)
    assert digest == hashlib.sha256((work / "big").read_bytes()).hexdigest()
    assert highest - before < 40 * 1024**2


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_sftp_starts_at_home_and_reaches_the_file_system(over_ssh, practice, work):
    (work / "a").write_bytes(b"\x00\xff")

    async def go(connection):
        async with connection.start_sftp_client() as sftp:
            await sftp.put(str(work / "a"), f"{work.name}/b")
            async with sftp.open(str(work / "b"), "rb") as file:
                return await sftp.realpath("."), await file.read()

    home, content = over_ssh(go)
    assert (home, content) == (str(practice.root / "home"), b"\x00\xff")


@pytest.mark.parametrize("options", [
    {"username": "root"}, {"client_keys": None, "password": "practice"},
    {"client_keys": [asyncssh.generate_private_key("ssh-ed25519")]}])
def test_only_the_one_user_with_the_one_key_comes_in(practice, options):
    with pytest.raises(asyncssh.PermissionDenied):
        asyncio.run(log_in(practice, **options))


def test_keys_and_home_stay_when_started_again(tmp_path):
    with running_practice_node(tmp_path) as first:
        (tmp_path / "home" / "kept").touch()
    with running_practice_node(tmp_path) as second:
        assert (second.host_key, second.private_key_text) == (
            first.host_key, first.private_key_text)
    assert (tmp_path / "home" / "kept").exists()
    assert (tmp_path / "keys" / "client_key").stat().st_mode & 0o077 == 0


def _command(root, port):
    return subprocess.Popen([sys.executable, "manage.py", "practice_node", "--root", str(root),
                             "--port", str(port)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


@pytest.mark.slow
def test_command_says_where_it_listens_and_stops_on_term(tmp_path):
    process = _command(tmp_path, 0)
    line, second = process.stdout.readline(), process.stdout.readline()
    process.terminate()
    process.communicate(timeout=120)
    assert line.startswith("practice node: practice@127.0.0.1 port ")
    assert str(tmp_path / "keys" / "client_key") in line
    assert second.startswith("host key: SHA256:")
    assert process.returncode == 0


@pytest.mark.slow
def test_taken_port_is_said_in_one_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = _command(tmp_path, port)
        text = process.communicate(timeout=120)[0]
    assert process.returncode == 1
    assert f"Port {port} of 127.0.0.1 is taken" in text
    assert "Traceback" not in text
