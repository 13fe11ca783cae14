"""A service as a job: started, asked, held for a while and ended; its cards are leased as long."""

import json
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter
from workers.kinds.node_scripts import on_device, run_script

HELD = (
    Parameter("probe", _("Address that proves that it answers"), "path", default="/v1/models"),
    Parameter("wait", _("Longest start"), "integer", default=1800, minimum=5, maximum=14_400,
              unit="s"),
    Parameter("hold", _("Kept for"), "integer", default=3600, minimum=0, maximum=80_000,
              unit="s", help=_("0: ended as soon as it has answered.")),
)


class HeldService(JobKind):
    """Base: `settings` says which service is started and by which line its start is known."""

    stages = (Stage.INFER_MIGRATE, Stage.INFER_TUNE)
    timeout_seconds = 24 * 3600
    usual_seconds = 3600
    judged_files = ("service.report.json",)
    claims_device = True
    service: ClassVar[str]  # as `scripts/service.py` names it
    may_log_errors = True  # a service goes on after a request that it could not answer

    def settings(self, parameters: dict) -> dict:
        """What `scripts/service.py` takes beside weights, port, probe, wait and hold."""
        raise NotImplementedError

    def argv(self, parameters):
        p = parameters
        asked = {name: p[name] for name in ("weights", "port", "probe", "wait", "hold")}
        serve = run_script("service", json.dumps({
            **asked, "service": self.service, **self.settings(p)}),
                           python=p["python"])
        return on_device(serve, p["python"])

    def facts(self, parameters):
        return {"model_family": parameters["model_name"]}

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("service")
        if not report or report["service"] != self.service or not report["is_started"]:
            return Judgement(False, gettext_noop("The service did not start; the log shows why."))
        facts = {"seconds": report["started_after_seconds"], "probes": report["probes"],
                 "answered": report["answered"], "sha256": report["sha256"]}
        if not report["first"]:
            return Judgement(False, gettext_noop(
                "The service started after %(seconds)s s, but does not answer."), facts, facts)
        if report["ended_by_itself"] or report["answered"] < report["probes"]:
            return Judgement(False, gettext_noop(
                "The service answered %(answered)d of %(probes)d times, or ended by itself."),
                facts, facts)
        return Judgement(True, gettext_noop(
            "Started after %(seconds)s s and answered all %(probes)d times it was asked."),
            facts, facts)
