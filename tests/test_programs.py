"""What `./desk` and `.ci/run` install brings every program that product and tests start."""

import re
import subprocess

from tests import programs
from tests.conftest import TESTS

ROOT = TESTS.parent
DESK = (ROOT / "desk").read_text()


def _packages(name: str) -> set[str]:
    return set(re.search(rf'^{name}="(.*)"$', DESK, re.M).group(1).split())


def test_desk_installs_what_product_and_tests_start():
    assert {name for name in _packages("SYSTEM_PACKAGES")
            if not name.startswith(("lib", "fonts-"))} == set(programs.PRODUCT)
    assert _packages("TEST_PACKAGES") == set(programs.TESTS)


def test_ci_installs_what_slow_and_browser_tests_start():
    needed = dict(re.findall(r"^need (\S+) (\S+)", (ROOT / ".ci" / "run").read_text(), re.M))
    for package, names in programs.CI.items():
        assert set(names) & {name for name, found in needed.items() if found == package}, package


def test_an_undeclared_program_is_noticed():
    subprocess.run(["env", "true"], check=True)
    assert programs.undeclared == {"env"}
    programs.undeclared.clear()


def test_an_ordinary_user_is_told_one_command(tmp_path):
    """Without root and sudo `./desk test` names what is missing, all of it at once."""
    for name, text in (("apt-get", ""), ("dpkg-query", "exit 1\n"), ("id", "echo 1000\n"),
                       ("sudo", "exit 1\n")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "desk").write_text(DESK)
    shown = subprocess.run(["sh", "desk", "test"], cwd=tmp_path, capture_output=True, text=True,
                           check=False, env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert shown.returncode == 1
    command = next(line for line in shown.stderr.splitlines() if "apt-get install" in line).split()
    assert {*programs.PRODUCT, *programs.TESTS} <= set(command)
