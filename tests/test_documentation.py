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


READMES = ("README.md", "README.zh-CN.md")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
OTHER = {"docs/api.md": "docs/api.zh-CN.md",
         "docs/configuration.md": "docs/configuration.zh-CN.md",
         "docs/dependencies.md": "docs/dependencies.zh-CN.md",
         "docs/operation.md": "docs/operation.zh-CN.md"}  # the same text, by language


def test_each_promise_of_the_threat_model_names_its_test():
    text = read("docs/security.md")
    table = text.partition("| Boundary | Defence | Proof |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert [row[0] for row in rows if "`" not in row[-1] and "tests of" not in row[-1]] == []
    named = re.findall(r"`(tests/[^`]+)`", text)
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def outline(path: str) -> list[int]:
    """The levels of its headings, in their order; lines of code are none."""
    without_code = re.sub(r"^```.*?^```", "", read(path), flags=re.M | re.S)
    return [len(found) for found in re.findall(r"^(#+) ", without_code, re.M)]


@pytest.mark.parametrize("path", READMES)
def test_a_readme_is_short(path):
    assert len(read(path).splitlines()) <= 120


def test_both_readmes_say_the_same():
    english, chinese = READMES
    assert outline(english) == outline(chinese)
    links = [sorted(OTHER.get(link, link) for link in LINK.findall(read(path))
                    if link not in READMES) for path in READMES]
    assert links[0] == links[1]
    commands = [[line.split(" | ")[0].replace("、", ", ") for line in read(path).splitlines()
                 if line.startswith("| `")] for path in READMES]
    assert commands[0] == commands[1]


def test_operators_read_the_same_in_both_languages():
    """Chapters, tables, commands, settings and figures, tests that are named."""
    english, chinese = (read(path) for path in ("docs/operation.md", OTHER["docs/operation.md"]))
    for pattern in (r"(?m)^#+ ", r"(?m)^\|"):
        assert len(re.findall(pattern, english)) == len(re.findall(pattern, chinese))
    for pattern in (r"DESK_\w+|desk_\w+|DATABASE_URL", r"`(tests/[^`]+|test_\w+\.py)`",
                    r"(?m)^(?:manage\.py|\./desk|podman|systemctl|install|useradd)[^#\n]*",
                    r"`/[\w/-]*`"):
        assert sorted(set(re.findall(pattern, english))) == sorted(set(re.findall(
            pattern, chinese))), pattern


@pytest.mark.parametrize("path", [*READMES, "CONTRIBUTING.md", *(
    str(found.relative_to(ROOT)) for found in sorted((ROOT / "docs").glob("*.md")))])
def test_links_lead_to_files(path):
    links = [link for link in LINK.findall(read(path)) if "://" not in link]
    assert [link for link in links if not (ROOT / path).parent.joinpath(link).exists()] == []


FILE = re.compile(r"`([a-z_]+(?:/[\w.-]+)+\.\w+)(?:: (\w+))?`")
FLOW = re.compile(r"^## Flow \d.*?(?=^## )", re.M | re.S)


@pytest.mark.parametrize("path", [
    "docs/architecture.md", "docs/coverage.md", "docs/extending.md", "docs/jobs.md"])
def test_files_and_functions_named_exist(path):
    named = FILE.findall(read(path))
    assert named
    assert [file for file, _name in named if not (ROOT / file).is_file()] == []
    assert [(file, name) for file, name in named
            if name and not re.search(rf"\b(def|class) {name}\b|^{name}\b", read(file), re.M)] == []


def test_each_flow_is_followed_in_twelve_steps():
    flows = FLOW.findall(read("docs/architecture.md"))
    assert [len(re.findall(r"^\| \d+ \|", flow, re.M)) <= 12 for flow in flows] == [True] * 3


def test_every_package_is_named():
    packages = {path.parent.name for path in (ROOT / "delivery").glob("*/__init__.py")}
    for path in (*READMES, "docs/architecture.md"):
        assert packages - {"settings"} - set(re.findall(r"\w+", read(path))) == set()
