"""The skill names tools, kinds of jobs and references that there are, in both languages alike."""

import re
import sys
from pathlib import Path

import pytest

from tests.client.conftest import CLIENT
from workers import kinds
from workers.kinds import base as registry

FOLDER = CLIENT / "desk_cli" / "skill"
FILES = sorted(FOLDER.rglob("*.md"))
MOST_LINES = 500
KIND = re.compile(r"`((?:survey|env|adapt|acc|perf|inf|run|evi)\.[a-z0-9_*]+)`")
STAGE = re.compile(r"^\| (survey|design|env|train_[a-z]+|infer_[a-z]+)\b", re.M)


@pytest.fixture
def tools(monkeypatch) -> set[str]:
    monkeypatch.syspath_prepend(str(CLIENT))
    from desk_cli.mcp_server.desk import Desk
    from desk_cli.mcp_server.tools import Tools

    yield {tool.__name__ for tool in Tools(Desk()).all()}
    for name in [name for name in sys.modules if name.partition(".")[0] == "desk_cli"]:
        del sys.modules[name]


def test_each_tool_and_kind_that_it_names_exists(tools):
    text = "\n".join(path.read_text() for path in FILES)
    assert set(re.findall(r"\bdesk_[a-z_]+", text)) - tools == set()
    assert tools - set(re.findall(r"\bdesk_[a-z_]+", text)) == {"desk_find", "desk_cancel_job",
                                                               "desk_attach_evidence"}
    named = set(KIND.findall(text))
    assert len(named) > 50
    assert [code for code in sorted(named) if not (
        any(known.startswith(code[:-1]) for known in registry._kinds) if code.endswith("*")
        else kinds.get(code))] == []


@pytest.mark.parametrize("name", ["SKILL", "SKILL.zh-CN"])
def test_it_is_short_and_leads_to_each_reference_of_its_language(name):
    text = (FOLDER / f"{name}.md").read_text()
    assert len(text.splitlines()) <= MOST_LINES
    led_to = {Path(link).name for link in re.findall(r"\]\((references/[^)]+)\)", text)}
    own = {path.name for path in (FOLDER / "references").glob("*.md")
           if path.name.endswith(".zh-CN.md") == name.endswith("zh-CN")}
    assert led_to == own
    assert {"survey", "design", "env", "train-adapt", "train-tune", "infer-migrate", "infer-tune",
            "public-skills"} == {file.partition(".")[0] for file in own}


def test_both_languages_name_the_same_kinds_stages_and_tools():
    for path in FILES:
        if not path.name.endswith(".zh-CN.md"):
            english, chinese = path.read_text(), path.with_suffix(".zh-CN.md").read_text()
            for found in (KIND.findall, re.compile(r"`(desk_[a-z_]+)`").findall,
                          STAGE.findall):
                assert set(found(english)) == set(found(chinese)), path.name
