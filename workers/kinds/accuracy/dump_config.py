"""The typed configuration of msprobe's PrecisionDebugger, and the config.json that it becomes.

Options: msprobe 26.2.0, docs/zh/dump/config_json_introduct.md of Ascend/msprobe (“通用配置”,
“task配置为statistics”, “task配置为tensor”, “data_mode参数配置说明”, “list/scope参数配置说明”).
"""

import json
import re

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from workers.kinds.base import Parameter

FOLDER = "dump"  # dump_path: below the job's work folder
ENTRY = re.compile(r"\d+(?:-\d+)?")
TASKS = {"statistics": _("Statistics of every tensor"), "tensor": _("Statistics and real tensors"),
         "structure": _("Structure and call stacks only")}
LEVELS = {"L0": _("Modules"), "L1": _("APIs"), "mix": _("Modules and APIs")}
DIRECTIONS = {"all": _("Forward and backward"), "forward": _("Forward only"),
              "backward": _("Backward only")}
SIDES = {"all": _("Inputs and outputs"), "input": _("Inputs only"), "output": _("Outputs only")}
SUMMARIES = {"statistics": _("Maximum, minimum, mean, norm"), "md5": _("With a checksum (CRC-32)"),
             "xor": _("Checksum only (XOR)")}
RISKS = {"FOCUS": _("Without pure changes of shape"), "ALL": _("Every API"),
         "CORE": _("Fused operators, communication and the like only")}
TYPED: tuple[Parameter, ...] = (
    Parameter("task", _("What is dumped"), "choice", default="statistics", choices=tuple(TASKS),
              names=TASKS),
    Parameter("level", _("Level"), "choice", default="L1", choices=tuple(LEVELS), names=LEVELS),
    Parameter("steps", _("Steps"), default="0", help=_(
        "Numbers and ranges that the script reaches, such as 0, 2, 4-6.")),
    Parameter("dump_ranks", _("Ranks that dump"), is_required=False, help=_(
        "Numbers and ranges, such as 0, 4-7; empty: all. For one card it has to be empty.")),
    Parameter("operators", _("Operators"), "words", is_required=False, help=_(
        "Full names such as Tensor.permute.1.forward, or a part such as relu; empty: all.")),
    Parameter("scope", _("From and to"), "words", is_required=False, help=_(
        "Two full names of modules or APIs: what is called between them is dumped.")),
    Parameter("direction", _("Direction"), "choice", default="all", choices=tuple(DIRECTIONS),
              names=DIRECTIONS),
    Parameter("side", _("Side"), "choice", default="all", choices=tuple(SIDES), names=SIDES),
    Parameter("summary", _("Figures of a tensor"), "choice", default="statistics",
              choices=tuple(SUMMARIES), names=SUMMARIES),
    Parameter("risk_level", _("APIs by risk"), "choice", is_required=False,
              choices=tuple(RISKS), names=RISKS, help=_(
                  "Known by msprobe from 26.2 on, for the levels L1 and mix; empty: the tool's "
                  "default.")),
)


def require_consistent(values: dict) -> None:
    """Raise InvalidInput where two fields contradict each other; the sentence names them."""
    for name in ("steps", "dump_ranks"):
        entries(values[name], name)
    if values["config"]:
        if changed := [p.label for p in TYPED if values[p.name] != p.clean(None)]:
            raise InvalidInput(gettext(
                "Either a config.json that lies on the node or the fields: “%(field)s” was given "
                "beside it.") % {"field": changed[0]})
        return
    if values["scope"] and len(values["scope"]) != 2:
        raise InvalidInput(gettext("“%(label)s” takes two names or none.")
                           % {"label": gettext("From and to")})
    if values["summary"] == "xor" and values["task"] != "statistics":
        raise InvalidInput(gettext("XOR is for statistics; real tensors take statistics or md5."))
    if values["risk_level"] and values["level"] == "L0":
        raise InvalidInput(gettext("APIs are chosen by risk at the levels L1 and mix only."))


def entries(text: str | None, name: str = "") -> list[int | str]:
    """“0, 2, 4-6” as msprobe takes it: [0, 2, "4-6"]. Raises InvalidInput for anything else."""
    words = [word for word in re.split(r"[\s,]+", text or "") if word]
    for word in words:
        first, _dash, last = word.partition("-")
        if not ENTRY.fullmatch(word) or (last and int(last) <= int(first)):
            label = next((p.label for p in TYPED if p.name == name), name)
            raise InvalidInput(gettext("%(label)s: “%(word)s” is neither a number nor a range such "
                                       "as 4-6.") % {"label": label, "word": word})
    return [word if "-" in word else int(word) for word in words]


def config_json(values: dict) -> str:
    """The config.json of the typed values, indented, as it becomes one of the job's files."""
    config: dict = {"task": values["task"], "dump_path": FOLDER,
                    "rank": entries(values["dump_ranks"]), "step": entries(values["steps"]),
                    "level": values["level"]}
    if values["risk_level"]:
        config["risk_level"] = values["risk_level"]
    if values["task"] != "structure":
        chosen = [word for word in (values["direction"], values["side"]) if word != "all"]
        config[values["task"]] = {
            "scope": values["scope"] or [], "list": values["operators"] or [],
            "data_mode": chosen or ["all"], "summary_mode": values["summary"]}
    return json.dumps(config, indent=1, ensure_ascii=False)
