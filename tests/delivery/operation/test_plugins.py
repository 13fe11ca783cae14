"""The example plug-in appears with all its parts; one that fails appears with none, by name."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

EXAMPLE = Path(settings.BASE_DIR) / "docs/example-plugin"
LOOK = """
import json, sys
import django
django.setup()
from delivery.notices.channel_kinds import channel_choices
from delivery.operation.plugins import PLUGINS, check_plugins
from delivery.reports import registry
from delivery.reports.approvals.approval_steps import numbered
from delivery.reports.kind_checks import check_kinds
from toolreaders import ReadError, read_file
from workers import kinds, rules, schedulers
from workers.artifacts import reading_process
from workers.forms.node_fieldsets import GROUPS
from workers.kinds.base import Finished
from workers.models.node import scheduler_choices
from workers.rules.facts import Seen, observed

def read():
    try:
        return reading_process.run_bounded(read_file, sys.argv[1])
    except ReadError as error:
        return error

def judged():
    kind, reading = kinds.get("env.rack_power"), read()
    done = kind.judge(Finished(0, "", {"power.csv": reading}, ["power.csv"]))
    return [done.is_success, done.results]

def hits():
    facts = {found.name: found.value for found in observed(Seen("rack_power", "x", read().values))}
    return [hit.rule for hit in rules.check(facts, ["R-RACK-01"]).hits]

codes = {kind.code for kind in kinds.all_kinds()}
has_all = "env.rack_power" in codes
print(json.dumps({
    "plugins": [[p.name, p.version, list(p.parts), p.error] for p in PLUGINS],
    "kind": has_all, "judged": judged() if has_all else None,
    "rule": "R-RACK-01" in rules.RULES, "hits": hits() if has_all else None,
    "document": "RN" in [kind.code for kind in registry.all_kinds()],
    "chain": [step["title_en"] for step in numbered(registry.get("RN").chain)] if has_all else [],
    "channel": "pager" in dict(channel_choices()),
    "scheduler": "site_slurm" in schedulers.KINDS and "site_slurm" in dict(scheduler_choices()),
    "form": [list(names) for title, _open, names in GROUPS if str(title) == "Cluster: site"],
    "reader": getattr(read(), "reader", str(read())),
    "checks": [str(found.msg) for found in [*check_plugins(None), *check_kinds(None)]],
    "own": len(codes) > 50}))
"""


def installed(folder: Path, source: Path = EXAMPLE) -> Path:
    """As `pip install --target` leaves it: the package, and beside it what describes it."""
    declared = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    shutil.copytree(source / "desk_example", folder / "desk_example",
                    ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / f"desk_example-{declared['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n")
    (info / "entry_points.txt").write_text("\n".join(
        line for group, entries in declared["entry-points"].items()
        for line in [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]))
    return folder


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{settings.BASE_DIR}",
            "DJANGO_SETTINGS_MODULE": "delivery.settings", "DESK_VAR_DIR": str(folder / "var"),
            "DESK_LANGUAGE": "en"}


def looked(folder: Path) -> dict:
    power = folder / "power.csv"
    power.write_text("rack,seconds,watts\nA1,0,28000\nA1,60,31500\n")
    return json.loads(subprocess.run(
        [sys.executable, "-c", LOOK, power], cwd=settings.BASE_DIR, env=environment(folder),
        check=True, capture_output=True, text=True).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("error", ["", "import nowhere", "raise SystemExit(2)",
                                   "class Second(RackPowerCheck):\n    pass\nregister(Second)"])
def test_a_plug_in_appears_whole_or_not_at_all(tmp_path, error):
    """The error stands at the end of a part, whose own kind is registered by then."""
    kinds = installed(tmp_path) / "desk_example/job_kinds.py"
    kinds.write_text(f"{kinds.read_text()}\n{error}\n")
    found = looked(tmp_path)
    [[name, version, parts, shown]] = found.pop("plugins")
    assert (name, version) == ("desk-example", "1.0.0")
    assert parts == ["readers", "job_kinds", "rules", "document_kinds", "channels", "schedulers"]
    if error:
        assert shown.startswith("desk_example.job_kinds: ")
        assert "desk-example" in found.pop("checks")[0]
        assert found.pop("own")
        assert "No reader knows this content" in found.pop("reader")
        assert not any(found.values()), found
        return
    assert (shown, found) == ("", {
        "kind": True, "judged": [True, {"watts": 31500.0}], "rule": True, "hits": ["R-RACK-01"],
        "document": True, "chain": ["Checked", "Released"], "channel": True, "scheduler": True,
        "form": [["scheduler_site_module"]], "reader": "rack_power", "checks": [], "own": True})


@pytest.mark.slow
def test_commands_name_a_plug_in_that_failed(tmp_path):
    rules = installed(tmp_path) / "desk_example/rules.py"
    rules.write_text(rules.read_text().replace("R-RACK-01", "R-ENV-01"))
    checked = subprocess.run([sys.executable, "manage.py", "check"], cwd=settings.BASE_DIR,
                             env=environment(tmp_path), capture_output=True, text=True,
                             check=True)
    assert "desk.W002" in checked.stderr
    assert "desk_example.rules: ValueError: Rule 'R-ENV-01' is declared twice" in checked.stderr


@pytest.mark.slow
def test_the_library_reads_with_the_readers_of_plug_ins(tmp_path):
    power = installed(tmp_path) / "power.csv"
    power.write_text("rack,seconds,watts\nA1,0,28000\n")
    shown = subprocess.run([sys.executable, "-m", "toolreaders", "read", power],
                           cwd=settings.BASE_DIR, env=environment(tmp_path), check=True,
                           capture_output=True, text=True).stdout
    assert "rack_power" in shown
