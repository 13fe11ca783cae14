"""A MindIE service as a job: it lives as long as the job holds its cards (DOMAIN 4.5)."""

import json
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.node_scripts import on_device, run_script


@register
class MindieServe(JobKind):
    code = "inf.mindie_serve"
    title = _("MindIE service")
    description = _("Starts a MindIE service for a model, asks it for its models, keeps it for the "
                    "given time, and ends it. Run the serving benchmark meanwhile.")
    success = _("The log holds “Daemon start success!”, the service answers, it did not end by "
                "itself, and an NPU is proven to have been used.")
    stages = (Stage.INFER_MIGRATE, Stage.INFER_TUNE)
    timeout_seconds = 24 * 3600
    usual_seconds = 3600
    collect = ("service.report.json", "config.json", "model_config.json")
    judged_files = ("service.report.json",)
    claims_device = True
    may_log_errors = True  # a service goes on after a request that it could not answer
    parameters: ClassVar = (
        Parameter("folder", _("Folder of the MindIE service"), "path",
                  default="/usr/local/Ascend/mindie/latest/mindie-service",
                  help=_("MIES_INSTALL_PATH; its conf/config.json is copied, never changed.")),
        Parameter("weights", _("Folder of the weights"), "path"),
        Parameter("model_name", _("Name of the model"), "name"),
        Parameter("cards", _("Cards"), "integer", default=8, minimum=1, maximum=16),
        Parameter("port", _("Port of the service"), "integer", default=1025, minimum=1024,
                  maximum=65535),
        Parameter("probe", _("Address that proves that it answers"), "path",
                  default="/v1/models"),
        Parameter("wait", _("Longest start"), "integer", default=1800, minimum=5, maximum=14_400,
                  unit="s"),
        Parameter("hold", _("Kept for"), "integer", default=3600, minimum=0, maximum=80_000,
                  unit="s", help=_("0: ended as soon as it has answered.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )

    def argv(self, parameters):
        p = parameters
        asked = {"weights": p["weights"], "name": p["model_name"], "cards": p["cards"],
                 "port": p["port"], "probe": p["probe"], "wait": p["wait"], "hold": p["hold"]}
        serve = run_script("mindie_serve", p["folder"], json.dumps(asked), python=p["python"])
        return on_device(serve, p["python"])

    def facts(self, parameters):
        return {"model_family": parameters["model_name"]}

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("service")
        if not report or not report["is_started"]:
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
