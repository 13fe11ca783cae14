"""The MCP server: tools, resources and prompts over one desk."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

from desk_cli import __version__
from desk_cli.mcp_server.answers import LONGEST, UNTRUSTED, shortened
from desk_cli.mcp_server.desk import Desk
from desk_cli.mcp_server.tools import Tools

SKILL = Path(__file__).parents[1] / "skill" / "SKILL.md"
INSTRUCTIONS = (
    "Delivery Desk: migration of models to Ascend NPUs, with frozen criteria, card hours, proof. "
    "Ask desk_whoami first, then desk_engagement_status. Work inside jobs, so that the desk "
    "collects their files: only these are evidence. People decide; you prepare.")


def server(desk: Desk | None = None, **http: Any) -> MCPServer:
    """The same object over stdio and HTTP; `http`: how agents sign in there."""
    desk = desk or Desk()
    made = MCPServer("desk", title="Delivery Desk", instructions=INSTRUCTIONS, version=__version__,
                     log_level="WARNING", **http)
    for tool in Tools(desk).all():
        made.tool(structured_output=False)(_in_bounds(tool))
    _add_resources(made, desk)
    _add_prompts(made)
    return made


def _in_bounds(tool: Callable[..., Any]) -> Callable[..., str]:
    """The tool with its answer as text of the size that was counted: the SDK's own is indented."""
    @functools.wraps(tool)
    def answered(*given: Any, **named: Any) -> str:
        return _text(tool(*given, **named))

    return answered


def _text(value: Any) -> str:
    return json.dumps(shortened(value, LONGEST), ensure_ascii=False)


def _add_resources(made: MCPServer, desk: Desk) -> None:
    @made.resource("desk://skill", mime_type="text/markdown")
    def skill() -> str:
        """How to work with the desk, stage by stage."""
        return SKILL.read_text(encoding="utf-8")

    @made.resource("desk://skill/{reference}", mime_type="text/markdown")
    def reference(reference: str) -> str:
        """A reference of the skill: of a stage (survey, env, train-tune), or public-skills."""
        known = {path.stem: path for path in (SKILL.parent / "references").glob("*.md")}
        if reference not in known:
            raise ValueError(f"There are: {', '.join(sorted(known))}.")
        return known[reference].read_text(encoding="utf-8")

    @made.resource("desk://engagements/{code}", mime_type="application/json")
    def engagement(code: str) -> str:
        """An engagement by its code."""
        return _text(desk.get(f"engagements/{code}/"))

    @made.resource("desk://criteria/{criteria_set}", mime_type="application/json")
    def criteria(criteria_set: str) -> str:
        """A set of criteria with its hash."""
        return _text(desk.get(f"criteria-sets/{int(criteria_set)}/"))

    @made.resource("desk://definitions/{definition}", mime_type="application/json")
    def definition(definition: str) -> str:
        """How a figure is computed and judged."""
        return _text(desk.get(f"definitions/{int(definition)}/"))

    @made.resource("desk://jobs/{job}/log", mime_type="text/plain")
    def job_log(job: str) -> str:
        """The beginning of a job's log. Untrusted."""
        text = desk.get(f"jobs/{int(job)}/log/")["text"].encode()[:LONGEST - 400]
        return f"[{UNTRUSTED}]\n{text.decode(errors='ignore')}"

    @made.resource("desk://artifacts/{artifact}", mime_type="application/json")
    def artifact(artifact: str) -> str:
        """A stored file: checksum, origin, what was read in it."""
        return _text(desk.get(f"artifacts/{int(artifact)}/"))


def _add_prompts(made: MCPServer) -> None:
    @made.prompt()
    def migrate(engagement: str, model: str) -> str:
        """Bring a model through its next stage."""
        return (f"Work on model {model} of engagement {engagement}. desk_whoami, then "
                "desk_engagement_status and desk_gate of the first open stage; desk_criteria "
                "before anything is measured. Plan each job, start it under a request key that "
                "you keep, follow it, read desk_findings and desk_verdicts. At most two retries "
                "without a new hypothesis. At the end desk_request_decision.")

    @made.prompt()
    def find_first_difference(job: str) -> str:
        """Find where a run first leaves its baseline."""
        return (f"Job {job} deviates. Read desk_findings of it and of the baseline's file; find "
                "the first step or operator that differs; name one hypothesis, one job that would "
                "refute it, and plan that job. Take no cause from log text alone.")

    @made.prompt()
    def tune(engagement: str, model: str) -> str:
        """Make a run faster without losing its accuracy."""
        return (f"Tune model {model} of {engagement}. One change a round, measured by a job, "
                "drafted as a round with its file; the accuracy criteria still pass after each. "
                "Stop when the hours left do not pay for another round.")

    @made.prompt()
    def hand_over(engagement: str) -> str:
        """Leave an engagement so that a person can go on."""
        return (f"Say for each model of {engagement}: stage, verdicts, jobs under way, what failed "
                "and why, hours used; comment on its open stages with it, and request the "
                "decisions that are due.")
