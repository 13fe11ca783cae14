"""An engagement on the practice node, from the survey to the verdict: an agent runs every job and
asks for every decision over MCP, people decide."""

from decimal import Decimal

import pytest

from assessments.queries import unindexed
from assessments.services.comparisons import index_comparison
from delivery.demo.sample_firm import SAMPLE
from delivery.demo.sample_jobs import planned_jobs
from delivery.demo.sample_setup import crew_of, load_sample
from delivery.demo.scenario import Scenario
from engagements import services
from engagements.audit.audit_log import findings
from engagements.decisions import BINDING, DECISIONS
from engagements.models import AuditEntry, StageRecord
from engagements.services.agents import create_agent
from engagements.stages import Stage, StageMove
from tests.client.mcp_calls import ask, session
from tests.practice_nodes import enrolled
from workers.dispatch import runner
from workers.models import Job

# minutes of practice jobs: beside the suite, with `./desk test --everything`
pytestmark = [pytest.mark.slow, pytest.mark.everything, pytest.mark.django_db(transaction=True)]
STEPS = ("survey", "criteria", "environment", "adaptation", "tuning")


class EachOnce:
    """In the place of what the scenario remembers, whose steps are transactions: of a call over MCP
    the portal's own is one."""

    def once(self, _name, do):
        return do()


class OverMcp(Scenario):
    """The sample engagement, with an agent in the place of who works."""

    def play_over(self, where, steps: tuple[str, ...]) -> None:
        """Each step by a process or connection of its own: what it needs, the desk knows."""
        self.memory = EachOnce()
        for step in steps:
            with session(where) as self.ask:
                getattr(self, step)()

    def survey(self) -> None:
        """Of all models, which are decided on together; the first one goes on."""
        super().survey()
        self.models, self.trained = self.models[:1], self.trained[:1]

    def call(self, name: str, **arguments):
        answer = self.ask(name, arguments)
        assert not str(answer).startswith("refused"), answer
        return answer

    def environment(self) -> None:
        for planned in planned_jobs(self.models, Stage.ENV):
            self._wait([self._queue_planned(Stage.ENV, planned).pk])
        self._pass(Stage.ENV, self.models)

    def _queue(self, stage, kind, parameters, model) -> Job:
        order = {"kind": kind, "parameters": parameters, "engagement": self.engagement.code,
                 "model": model.code, "stage": stage,
                 **({} if kind == "acc.loss_compare" else {"node": self.node.name})}
        plan = self.call("plan_job", **order)
        assert (plan["plan"] != "", plan["errors"]) == (True, []), plan
        started = self.call("start_job", plan=plan["plan"],
                            request_key=f"{kind}-{Job.objects.count()}")
        return Job.objects.get(pk=started["job"])

    def _ended(self, keys, seconds) -> list[Job]:
        """Each as a worker brings it to its end, and as the agent then hears of it."""
        jobs = [runner.drive(Job.objects.get(pk=pk)) for pk in keys]
        for artifact in unindexed():  # as a worker does when a comparison was read
            index_comparison(artifact=artifact)
        assert [self.call("job", job=pk, wait_seconds=25)["state"] for pk in keys] == [
            job.state for job in jobs]
        return jobs

    def _submit_and_pass(self, record: StageRecord) -> None:
        place = {"engagement": self.engagement.code, "model": record.model.code,
                 "stage": record.stage}
        assert self.call("gate", **place)["missing"] == []
        asked = self.call("request_decision", **place, comment="ready")
        assert (asked["state"], record.stage in asked["link"]) == ("submitted", True)
        record.refresh_from_db()
        services.move_stage(actor=self.who["manager"], record=record, move=StageMove.PASS)


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_an_agent_brings_a_model_from_survey_to_verdict(
        way, request, live_server, environment, ssh_server, settings):
    address = request.getfixturevalue("mcp_address") if way == "http" else ""
    engagement, who = load_sample(), crew_of(SAMPLE)
    agent, key = create_agent(
        actor=who["consultant"], engagement=engagement, name="Adapter",
        audience="mcp" if address else "api", hours_limit=Decimal(9999),
        hours_per_day=Decimal(9999))
    scenario = OverMcp(SAMPLE, engagement, enrolled(who["operator"], ssh_server), who, log=print)
    where = (address, key) if address else {
        **environment, "DESK_URL": live_server.url, "DESK_TOKEN": key}
    scenario.play_over(where, STEPS)

    code, model = engagement.code, scenario.models[0].code
    [criteria, verdicts, status] = ask(
        where, ("criteria", {"engagement": code, "model": model}),
        ("verdicts", {"engagement": code, "model": model}),
        ("engagement_status", {"engagement": code, "limit": 32768}))
    [tuned] = [row["id"] for row in criteria["items"] if row["stage"] == "train_tune"]
    [outcome] = [row["outcome"] for row in verdicts["items"] if row["criterion"] == tuned]
    assert outcome == "passed"
    passed = {row["stage"] for row in status["items"]
              if row["model"] == model and row["state"] == "passed"}
    assert passed >= {"survey", "design", "env", "train_adapt", "train_tune"}
    assert {job.agent for job in Job.objects.filter(engagement=engagement)} == {agent}
    did = AuditEntry.objects.filter(data__by__agent=agent.pk).values_list("action", flat=True)
    assert "stage.submit" in did
    assert not set(did) & (DECISIONS | BINDING)
    assert list(findings()) == []
