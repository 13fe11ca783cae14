"""Units, container, compose file and proxy: what can be checked without starting them."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
import yaml
from django.conf import settings

from delivery.demo.child_processes import wait_for
from delivery.environment import SETTINGS
from tests.ports import free_port

ROOT = Path(settings.BASE_DIR)
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
OURS = "${DESK_IMAGE:-delivery-desk}"
MOST_EXPOSED = 2.0  # of 10, as systemd-analyze counts
SECRET = "x" * 60 + "".join(map(chr, range(48, 58)))


def run(*command, **environment) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          cwd=ROOT, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_units_are_understood_and_hardened(unit):
    understood = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True,
                                text=True, check=False)
    complaints = [line for line in understood.stderr.splitlines()
                  if "is not executable: No such file" not in line]  # installed elsewhere
    assert complaints == []
    shown = run("systemd-analyze", "security", "--offline=true", unit)
    assert float(re.search(r"exposure level for \S+: ([\d.]+)", shown).group(1)) <= MOST_EXPOSED


@pytest.mark.skipif(not shutil.which("caddy"), reason="no Caddy here")
def test_the_proxy_s_file_is_valid():
    assert "Valid configuration" in run("caddy", "validate", "--adapter", "caddyfile", "--config",
                                        DEPLOY / "Caddyfile")


class Portal(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.send_header("Set-Cookie", "sessionid=KEPT-SECRET")
        self.end_headers()

    def log_message(self, *_arguments):
        pass


@pytest.mark.skipif(not shutil.which("caddy"), reason="no Caddy here")
def test_the_proxy_goes_on_when_one_of_two_portals_went_and_logs_no_living_secret(tmp_path):
    portal = ThreadingHTTPServer(("127.0.0.1", 0), Portal)
    threading.Thread(target=portal.serve_forever, daemon=True).start()
    port, gone, log = free_port(), free_port(), tmp_path / "log"
    with log.open("wb") as stderr, subprocess.Popen(
            ["caddy", "run", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"],
            stderr=stderr, env={**os.environ, "HOME": str(tmp_path),
                                "DESK_HOST": f"http://127.0.0.1:{port}", "DESK_UPSTREAM":
                                f"127.0.0.1:{gone} 127.0.0.1:{portal.server_port}"}) as caddy:
        try:
            wait_for("127.0.0.1", port, 30)
            statuses = [httpx.get(f"http://127.0.0.1:{port}{path}", headers={
                "Authorization": "Token KEPT-SECRET", "Cookie": "a=KEPT-SECRET"},
                trust_env=False).status_code for path in (
                    "/plan-calendar/KEPT-SECRET.ics", "/password/link/Mg/KEPT-SECRET/",
                    "/invitation/KEPT-SECRET/?next=/", *["/people/"] * 5)]
        finally:
            caddy.terminate()
            portal.shutdown()
    assert statuses == [200] * 8
    assert "/invitation/***?next=/" in log.read_text()
    assert "KEPT-SECRET" not in log.read_text()


def test_services_of_the_compose_file_are_confined_and_wait_for_each_other():
    services = yaml.safe_load((DEPLOY / "container" / "compose.yaml").read_text())["services"]
    assert {"portal", "worker", "clock", "database", "redis", "store", "proxy"} <= set(services)
    ours = {name: row for name, row in services.items() if row["image"] == OURS}
    assert set(ours) == {"portal", "worker", "clock", "mcp"}
    for name, row in ours.items():
        assert row["read_only"] is True, name
        assert row["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in row["security_opt"], name
    for row in services.values():
        assert set(row.get("depends_on", {})) <= set(services)
        assert "service_completed_successfully" not in str(row)  # podman-compose cannot
        assert "privileged" not in row
    assert "env_file" in services["portal"]
    assert services["mcp"]["env_file"] == []  # no key of the portal
    assert services["worker"]["deploy"] == {"mode": "replicated", "replicas": 2}
    assert [name for name, row in services.items() if "ports" in row] == ["proxy"]
    assert {name for name, row in services.items() if "store" in row["networks"]} == {
        "portal", "worker", "clock", "store"}  # its inner ports ask for no password


def test_images_of_others_are_of_one_version():
    services = yaml.safe_load((DEPLOY / "container" / "compose.yaml").read_text())["services"]
    text = (DEPLOY / "container" / "Containerfile").read_text()
    images = {row["image"] for row in services.values()} - {OURS}
    images.add(re.search(r"^ARG BASE=(\S+)$", text, re.M).group(1))
    assert len(images) == 5
    assert [image for image in sorted(images)
            if not re.search(r":\d+\.\d+(\.\d+)?(-[a-z]+)*$", image)] == []


def test_secrets_beside_the_compose_file_get_into_no_image_and_no_commit():
    services = yaml.safe_load((DEPLOY / "container" / "compose.yaml").read_text())
    secret = {name for row in services["services"].values()
              for name in ([row["env_file"]] if isinstance(row.get("env_file"), str)
                           else row.get("env_file", []))}
    secret |= {Path(row["file"]).name for row in services["secrets"].values()}
    for name in (".dockerignore", ".gitignore"):
        assert {f"deploy/container/{path}" for path in secret} <= set(
            (ROOT / name).read_text().splitlines())


def test_the_container_runs_as_nobody_in_particular_with_a_health_check():
    lines = (DEPLOY / "container" / "Containerfile").read_text().splitlines()
    last_stage = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM")):]
    assert "USER 10001:10001" in last_stage
    assert any(line.startswith("HEALTHCHECK") for line in last_stage)
    [base] = [line.partition("=")[2] for line in lines if line.startswith("ARG BASE=")]
    assert not [line for line in lines if line.startswith("FROM")
                and ":" not in line.replace("${BASE}", base)]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {".git", "var", ".venv"} <= set(ignored)


@pytest.mark.slow
@pytest.mark.parametrize("names", [("container/desk.env.example", "container/store.env.example"),
                                   ("systemd/desk.env.example",)])
def test_every_variable_of_the_example_is_one_and_the_deployment_check_is_clean(tmp_path, names):
    lines = [line for name in names for line in (DEPLOY / name).read_text().splitlines()]
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    ours = {name for name in example if not name.startswith("AWS_")}
    assert example.keys() <= SETTINGS.keys()
    shown = run(sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **{
        **{name: example[name].replace("CHANGE-ME", SECRET) for name in ours}, "DATABASE_URL": "postgresql://a:b@localhost/c",
        "DESK_SECRET_KEY": SECRET, "DESK_AUDIT_KEY": SECRET, "DESK_CREDENTIAL_KEYS": "",
        "DESK_VAR_DIR": str(tmp_path)})
    assert "no issues" in shown


def test_units_image_and_compose_file_start_the_portal_by_one_file(monkeypatch, tmp_path):
    for name in ("systemd/desk-portal.service", "container/Containerfile",
                 "container/compose.yaml"):
        assert re.search(r"gunicorn[\s\S]{1,12}--config[\s\S]{1,6}deploy/gunicorn.conf.py",
                         (DEPLOY / name).read_text()), name
    # else the file sets it for the rest of this process, whose figures are then looked for there
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    found = runpy.run_path(str(DEPLOY / "gunicorn.conf.py"))
    assert (found["workers"], found["threads"], found["keepalive"]) == (
        settings.WEB_WORKERS, settings.WEB_THREADS, settings.WEB_KEEP_ALIVE)


def documented_steps() -> list[str]:
    """What docs/operation.md tells an administrator to type on one host with systemd."""
    text = (ROOT / "docs" / "operation.md").read_text().partition("**One host, systemd**")[2]
    return [line.partition("   #")[0].strip() for block in text.split("```sh\n")[1:3]
            for line in block.partition("```")[0].splitlines() if not line.startswith("#")]


# Of an administrator of the machine; `setup` is what installed this checkout.
NOT_HERE = ("apt-get", "useradd", "cp deploy/systemd", "systemctl", "./desk setup", "password=",
            "runuser", "install -D -m 0644", "install -m 0644", "cd /opt/delivery-desk",
            "./desk doctor")


@pytest.mark.slow
def test_the_documented_steps_work_as_written(tmp_path, migrated_file):
    """Settings from the example, first administrator without a terminal, check, backup."""
    steps = documented_steps()
    assert [part for part in NOT_HERE if not any(step.startswith(part) for step in steps)] == []
    folders = {"/etc/delivery-desk": tmp_path / "etc", "/var/lib/delivery-desk": tmp_path / "var",
               "/var/backups/delivery-desk": tmp_path / "backups",
               "-o delivery-desk -g delivery-desk ": ""}

    def go(step: str) -> str:
        for there, here in folders.items():
            step = step.replace(there, str(here))
        own = "unset DATABASE_URL REDIS_URL DESK_AUDIT_KEY DESK_VAR_DIR; umask 077"
        return run("sh", "-euc", f"{own}; {step}", DESK_ENV_FILE=str(tmp_path / "etc" / "desk.env"),
                   DESK_BACKUPS=str(tmp_path / "backups"))

    shown = ""
    for step in steps:
        if step == "./desk setup":
            filled = tmp_path / "etc" / "desk.env"
            text = filled.read_text()
            assert "CHANGE-ME" not in text
            assert filled.stat().st_mode & 0o077 == 0
            filled.write_text(re.sub("(?m)^(DATABASE|REDIS)_URL=.*\n", "", text)
                              + f"DESK_VAR_DIR={tmp_path / 'var'}\n"
                              + f"DATABASE_URL=sqlite:///{tmp_path / 'var' / 'desk.sqlite3'}\n")
            shutil.copy(migrated_file, tmp_path / "var" / "desk.sqlite3")
        elif not step.startswith(NOT_HERE):
            shown += go(step)
    assert re.search(r"Password, shown once: \S{20}\n", shown)
    assert "System check identified" in shown
    shown = go("./desk backup") + go("./desk manage verify --audit") + go("./desk begin admin")
    assert "Password" not in shown
    assert list((tmp_path / "backups").rglob("manifest*"))
    assert {path for path in (tmp_path / "var").rglob("*") if path.stat().st_mode & 0o077} == set()


def test_the_doctor_names_what_is_broken_and_what_to_do(db, settings, capsys, tmp_path):
    from django.core.management import CommandError, call_command

    from workers.models import Node

    blocked = tmp_path / "file"
    blocked.write_text("")
    settings.MEDIA_ROOT = blocked / "artifacts"
    Node.objects.create(name="gone", host="127.0.0.1", port=1, username="u", state="ready",
                        cards_total=8)
    with pytest.raises(CommandError):
        call_command("doctor", language="en", no_color=True)
    shown = capsys.readouterr().out
    assert "ok      Database: works" in shown
    assert re.search("BROKEN  Artifact store: .*check DESK_ARTIFACT_DIR", shown)
    assert re.search("BROKEN  Node gone: 127.0.0.1:1 .*firewall", shown)
    assert re.search("BROKEN  Worker: .*start one", shown)


@pytest.mark.slow
def test_the_doctor_speaks_chinese(db, capsys):
    from django.core.management import CommandError, call_command

    with pytest.raises(CommandError, match=r"共检查 \d+ 项"):
        call_command("doctor", no_color=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 10
    begins = re.compile("(正常|注意|故障)  [^a-z：]+(（worker）)?：")
    assert [line for line in lines if not begins.match(line)] == []


ENTRY_POINTS = {
    "commands": ["manage.py", "certificate"],
    "worker": ["-c", "import delivery.celery as c; from django.conf import settings; "
                     "open(settings.VAR_DIR / 'x', 'w')"],
    "portal": ["-c", "import delivery.wsgi; from django.conf import settings; "
                     "open(settings.VAR_DIR / 'x', 'w')"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_what_a_process_writes_is_its_owner_s_only(name, tmp_path):
    var = tmp_path / "var"
    command = ["sh", "-c", 'umask 022; exec "$0" "$@"', sys.executable, *ENTRY_POINTS[name]]
    run(*command, DESK_VAR_DIR=str(var), DATABASE_URL=f"sqlite:///{var}/desk.sqlite3",
        REDIS_URL="", DJANGO_SETTINGS_MODULE="delivery.settings")
    found = [var, *var.rglob("*")]
    assert len(found) > 3
    assert {str(path.relative_to(tmp_path)): oct(path.stat().st_mode) for path in found
            if path.stat().st_mode & 0o077} == {}
