"""Documentation that names things: dependencies, files, both languages of one text."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"^([A-Za-z0-9][\w.-]*)", re.M)


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def direct_dependencies() -> set[str]:
    listed = json.loads(read("package.json"))
    return {name for path in ROOT.glob("requirements*.txt")
            for name in NAME.findall(path.read_text("utf-8"))} | {
        *listed["dependencies"], *listed["devDependencies"]}


@pytest.mark.parametrize("path", ["docs/dependencies.md", "docs/dependencies.zh-CN.md"])
def test_every_direct_dependency_has_its_sentence(path):
    rows = [line.split(" | ") for line in read(path).splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row[0])]
    assert sorted(named) == sorted(direct_dependencies())
    assert [row for row in rows if not row[-1].strip(" |")] == []


FILE = re.compile(r"`([a-z_]+(?:/[\w.-]+)+\.\w+)(?:: (\w+))?`")
FLOW = re.compile(r"^## Flow \d.*?(?=^## )", re.M | re.S)


@pytest.mark.parametrize("path", ["docs/architecture.md", "docs/jobs.md"])
def test_files_and_functions_named_exist(path):
    named = FILE.findall(read(path))
    assert named
    assert [file for file, _name in named if not (ROOT / file).is_file()] == []
    assert [(file, name) for file, name in named
            if name and not re.search(rf"\b(def|class) {name}\b|^{name}\b", read(file), re.M)] == []


def test_each_flow_is_followed_in_twelve_steps():
    flows = FLOW.findall(read("docs/architecture.md"))
    assert [len(re.findall(r"^\| \d+ \|", flow, re.M)) <= 12 for flow in flows] == [True] * 3
