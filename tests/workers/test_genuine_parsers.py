"""Commands of the kinds before the genuine tools' own command-line parsers, release by release.

The packages come from the package index without their dependencies: what they import and is not
there is stood in for, since only their parsers run. A command is accepted where the parser hands
its result on; nothing is started.
"""

import os
import subprocess
import sys

import pytest

from tests.workers.test_commands import Node

pytestmark = pytest.mark.slow
# argv: module, function, then the command's words. Writes "accepted" to $LOG and ends.
PARSE = """
import argparse, importlib, os, sys
from importlib.machinery import ModuleSpec
from unittest.mock import MagicMock

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ("msprobe", "msprof_analyze", "msmodelslim"):
            return ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return MagicMock(__path__=[], __spec__=spec, __name__=spec.name, __file__=__file__,
                         __version__="2.1.0", SummaryWriter=type("Base", (), {}))
    def exec_module(self, module):
        pass

def accepted(*_given):
    with open(os.environ["LOG"], "a") as log:
        log.write("accepted\\n")
    os._exit(0)

sys.meta_path.append(Absent())
parse = argparse.ArgumentParser.parse_args
argparse.ArgumentParser.parse_args = lambda self, *given: accepted(parse(self, *given))
known = argparse.ArgumentParser.parse_known_args
def strict(self, *given):  # acc_check from 26 on: unknown words are refused by itself
    found = known(self, *given)
    return accepted() if self.prog.endswith("acc_check") and not found[1] else found
argparse.ArgumentParser.parse_known_args = strict
import click
click.Command.invoke = accepted  # a group has its own
module, function, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = module.split(".")[0]
getattr(importlib.import_module(module), function)()
"""
TOOLS = {"mindstudio-probe": ("msprobe", "msprobe.msprobe", "main"),
         "msprof-analyze": ("msprof-analyze", "msprof_analyze.cli.entrance", "msprof_analyze_cli"),
         "msmodelslim": ("msmodelslim", "msmodelslim.cli.__main__", "main")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Gives the folder in which a release of a package lies, each fetched once."""
    folders = {}

    def of(package, release):
        if (package, release) not in folders:
            folder = tmp_path_factory.mktemp(package)
            done = subprocess.run(
                [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder,
                 f"{package}=={release}"], check=False, timeout=300)
            if done.returncode:
                pytest.skip(f"the package index does not give {package} {release}")
            folders[package, release] = folder
        return folders[package, release]

    return of


def calls(root, package, folder, code, **given):
    """How a kind called the genuine tool; the last entry is ["accepted"] where it took it."""
    node = Node(root)
    name, module, function = TOOLS[package]
    (root / "parse.py").write_text(PARSE)
    node.tool(name, f'PYTHONPATH={folder} exec {sys.executable} {root}/parse.py '
                    f'{module} {function} "$@"\n')
    node.python()
    dump = root / "dump.json"
    dump.write_text('{"framework": "pytorch"}')
    return node.run(code, **{key: str(root / value) for key, value in given.items()})


PROBES = ("8.3.3", "26.2.0")
COMMANDS = [
    *(("mindstudio-probe", release, code, given) for release in PROBES for code, given in (
        ("acc.config_check", {"bench": "gpu.zip", "candidate": "npu.zip"}),
        ("acc.compare", {"target": "dump.json", "golden": "dump.json"}),
        ("acc.overflow_check", {"dump": ""}), ("acc.api_check", {"dump": "dump.json"}),
        ("acc.graph", {"target": "", "golden": ""}))),
    *(("msprof-analyze", "26.2.0", code, given) for code, given in (
        ("perf.advisor", {"profile": ""}), ("perf.compare", {"profile": "", "base": ""}),
        ("perf.cluster", {"profile": ""}))),
    ("msmodelslim", "26.1.0", "inf.quant", {"weights": ""}),
]


@pytest.mark.parametrize(("package", "release", "code", "given"), COMMANDS)
def test_the_genuine_parser_accepts_the_command(tmp_path, installed, package, release, code, given):
    assert calls(tmp_path, package, installed(package, release), code, **given)[-1] == ["accepted"]


def test_a_word_that_the_parser_does_not_know_is_not_accepted(tmp_path, installed):
    folder = installed("msmodelslim", "26.1.0")
    (tmp_path / "parse.py").write_text(PARSE)
    ended = subprocess.run(
        [sys.executable, "parse.py", *TOOLS["msmodelslim"][1:], "quant", "--model_path", "w",
         "--save_path", "q", "--bits", "8"], cwd=tmp_path, check=False, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": str(folder), "LOG": str(tmp_path / "log")})
    assert ended.returncode == 2
    assert "--bits" in ended.stderr
