"""Frameworks and tools that pip installs on a node (DOMAIN 4.7; seeds 000, 001, 003).

What pip lists afterwards is looked at; whether a framework sees an NPU is the question of the
checks in `frameworks.py` and `node_checks.py`.
"""

import re
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.environment.frameworks import PYTHON
from workers.kinds.environment.installation import CONFIRMED
from workers.kinds.example_runs import GoodRun, PracticeRun
from workers.rules import version_matrix

# $1 interpreter, $2 folder of wheels, $3 index, $4 “--user” or nothing; then what pip installs.
INSTALL = r"""
python=$1; house=$2; index=$3; user=$4; shift 4
"$python" -c 'import platform, sys
print("desk: Python", platform.python_version(), platform.machine(), sys.executable)' || exit $?
[ -n "$user" ] && set -- "$user" "$@"
[ -n "$index" ] && set -- --index-url "$index" "$@"
[ -n "$house" ] && set -- --no-index --find-links "$house" "$@"
"$python" -m pip install --no-input --disable-pip-version-check "$@" || exit $?
"$python" -m pip list --disable-pip-version-check > packages.txt || exit $?
echo "desk: pip has listed its packages"
"""
INTERPRETER = re.compile(r"^desk: Python (?P<python>[\d.]+\S*) (?P<arch>\S+) ", re.MULTILINE)
LISTED = re.compile(r"^desk: pip has listed its packages\s*\Z", re.MULTILINE)
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*?)"
                         r"(?:(?P<sign>==|>=)(?P<version>\d[\w.+!-]*))?")
WHEEL = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*)-(?P<version>\d[\w.+!]*)"
                   r"-(?:[\w.]+-){2,3}[\w.]+\.whl")
HOUSE = Parameter("wheelhouse", _("Folder of wheels on the node"), "path", is_required=False,
                  help=_("For nodes without a package index: only this folder is looked at."))
INDEX = Parameter("index", _("Address of the package index"), "name", is_required=False,
                  help=_("Empty: what pip is configured with on the node."))
USER = Parameter("user", _("For this login only (--user)"), "flag",
                 help=_("Where the login may not write to the interpreter's folder."))
PLACE = (PYTHON, HOUSE, INDEX, USER)


class _PackageInstall(JobKind):
    """Subclasses name the parameters and what pip is asked for."""

    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 2 * 3600
    usual_seconds = 300
    collect = judged_files = ("packages.txt",)
    success = _("pip ends with status 0 and lists every asked-for package in the asked-for "
                "version.")

    def requirements(self, parameters: dict) -> list[str]:
        """Words for pip: names with versions (PEP 508), or paths of wheels."""
        raise NotImplementedError

    def clean(self, values: dict) -> dict:
        cleaned = super().clean(values)
        if cleaned["wheelhouse"] and cleaned["index"]:
            raise InvalidInput(gettext(
                "A folder of wheels and an index exclude each other: name one of them."))
        return cleaned

    def argv(self, parameters):
        p = parameters
        return ["sh", "-c", INSTALL, "install", p["python"], p["wheelhouse"] or "",
                p["index"] or "", "--user" if p["user"] else "", *self.requirements(p)]

    def conclude(self, finished: Finished) -> Judgement:
        interpreter = INTERPRETER.search(finished.log)
        if finished.exit_status != 0 or not interpreter:
            return Judgement(False, gettext_noop(
                "The installation failed with status %(status)s; the log shows why."),
                {"status": finished.exit_status})
        if not LISTED.search(finished.log):
            return Judgement(False, gettext_noop(
                "The log ends before pip's list: what was installed is not known."))
        listed = {_normal(name): version for reading in finished.in_files("version_info")
                  for name, version in (reading.values.get("packages") or {}).items()}
        wanted = [wanted_package(word) for word in self.requirements(finished.parameters)]
        wrong = [f"{name} {listed.get(name, '–')}" for name, sign, version in wanted
                 if not _fits(listed.get(name), sign, version)]
        facts = {"which": ", ".join(f"{name} {listed.get(name, '–')}" for name, *_rest in wanted),
                 "wrong": ", ".join(wrong), **interpreter.groupdict()}
        if wrong:
            return Judgement(False, gettext_noop(
                "pip lists not what was asked for: %(wrong)s."), facts, facts)
        return Judgement(True, gettext_noop(
            "pip of Python %(python)s (%(arch)s) lists %(which)s; whether they work was not "
            "looked at."), facts, {**facts, **{name: listed[name] for name, *_rest in wanted}})


def wanted_package(word: str) -> tuple[str, str, str]:
    """(normalised name, “==”, “>=” or nothing, version) of a word for pip.

    Raises InvalidInput for what is neither a name with a version nor a wheel (PEP 427).
    """
    if found := WHEEL.fullmatch(word.rsplit("/", 1)[-1]):
        return _normal(found["name"]), "==", found["version"].replace("_", "+")
    if not word.endswith(".whl") and (found := REQUIREMENT.fullmatch(word)):
        return _normal(found["name"]), found["sign"] or "", found["version"] or ""
    raise InvalidInput(gettext(
        "“%(word)s” is neither a package such as name==1.2 nor a wheel.") % {"word": word})


def _normal(name: str) -> str:
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _fits(listed: str | None, sign: str, version: str) -> bool:
    """A local part such as +cpu belongs to the build, unless it was asked for."""
    if listed is None or not listed[:1].isdigit():
        return False
    if sign == ">=":
        return version_matrix.version(listed) >= version_matrix.version(version)
    return not sign or version in (listed, listed.split("+", 1)[0])


def _wheel(value: str | None) -> str | None:
    """The path, where it names a wheel. Raises InvalidInput."""
    if value and not WHEEL.fullmatch(value.rsplit("/", 1)[-1]):
        raise InvalidInput(gettext("“%(path)s” is no wheel: its name does not say package, "
                                   "version, Python and platform.") % {"path": value})
    return value


@register
class PytorchInstall(_PackageInstall):
    code = "env.pytorch_install"
    title = _("PyTorch installation")
    description = _("Installs PyTorch, torch_npu and what torch_npu imports with pip.")
    parameters: ClassVar = (
        Parameter("torch", _("Version of PyTorch"), "name", default="2.1.0"),
        Parameter("torch_npu", _("Version of torch_npu"), "name", default="2.1.0.post13",
                  help=_("Of the published pairs; its release decides which CANN fits.")),
        Parameter("more", _("Further packages"), default="pyyaml setuptools numpy==1.26.4",
                  is_required=False, help=_("Separated by spaces, each as name or name==version.")),
        *PLACE, CONFIRMED,
    )
    practice_runs = (PracticeRun({"confirmed": True},
                                 {"torch": "2.1.0", "torch-npu": "2.1.0.post13",
                                  "numpy": "1.26.4"}),)

    def requirements(self, parameters):
        return [f"torch=={parameters['torch']}", f"torch_npu=={parameters['torch_npu']}",
                *(parameters["more"] or "").split()]

    def clean(self, values):
        cleaned = super().clean(values)
        for word in (cleaned["more"] or "").split():
            wanted_package(word)
        return cleaned


@register
class TensorflowInstall(_PackageInstall):
    code = "env.tensorflow_install"
    title = _("TensorFlow installation")
    description = _("Installs TensorFlow for the processor and, where named, the NPU's plug-in. "
                    "On aarch64 it is the wheel that the TensorFlow build has made.")
    parameters: ClassVar = (
        Parameter("version", _("Version of TensorFlow"), "name", default="2.6.5",
                  help=_("Package tensorflow-cpu: the plain name would bring the GPU's build.")),
        Parameter("wheel", _("Own wheel of TensorFlow"), "path", is_required=False,
                  help=_("On aarch64, where no package index holds one.")),
        Parameter("plugin", _("Wheel of the NPU's plug-in"), "path", is_required=False,
                  help=_("npu_bridge or npu_device, from the folder of the tfplugin package.")),
        *PLACE, CONFIRMED,
    )
    good_run = GoodRun({"wheel": "~/wheels/tensorflow-2.6.5-cp39-cp39-linux_aarch64.whl"})
    practice_runs = (PracticeRun({"wheel": "~/wheels/tensorflow-2.6.5-cp39-cp39-linux_aarch64.whl",
                                  "user": True, "confirmed": True}, {"tensorflow": "2.6.5"}),)

    def requirements(self, parameters):
        p = parameters
        return [p["wheel"] or f"tensorflow-cpu=={p['version']}", *filter(None, [p["plugin"]])]

    def clean(self, values):
        cleaned = super().clean(values)
        _wheel(cleaned["wheel"]), _wheel(cleaned["plugin"])
        return cleaned

    def facts(self, parameters):
        return {"tensorflow_package": wanted_package(self.requirements(parameters)[0])[0]}


@register
class MindsporeInstall(_PackageInstall):
    code = "env.mindspore_install"
    title = _("MindSpore installation")
    description = _("Installs MindSpore with pip, from an index, a folder or a wheel.")
    parameters: ClassVar = (
        Parameter("version", _("Version of MindSpore"), "name", default="2.3.1"),
        Parameter("wheel", _("Own wheel of MindSpore"), "path", is_required=False),
        *PLACE, CONFIRMED,
    )
    practice_runs = (PracticeRun({"wheelhouse": "~/data", "confirmed": True},
                                 {"mindspore": "2.3.1"}),)

    def requirements(self, parameters):
        return [parameters["wheel"] or f"mindspore=={parameters['version']}"]

    def clean(self, values):
        cleaned = super().clean(values)
        _wheel(cleaned["wheel"])
        return cleaned

    def facts(self, parameters):
        return {"mindspore": wanted_package(self.requirements(parameters)[0])[2]}


# Flag of the form -> what pip is asked for (DOMAIN 4.7).
TOOLS = {
    "msprobe": ("mindstudio-probe",),
    "msprof_analyze": ("msprof-analyze",),
    "pytorch_analysis": ("pandas>=1.2.4", "libcst", "prettytable", "jedi"),
    "tensorflow_converter": ("pandas==1.3.5", "openpyxl", "google_pasta"),
    "corpus": ("nltk", "pyarrow", "pandas"),
}


@register
class ToolsInstall(_PackageInstall):
    code = "env.tools_install"
    title = _("Installation of the tools")
    description = _("Installs msprobe, msprof-analyze and what the analysis tools import.")
    parameters: ClassVar = (
        Parameter("msprobe", _("msprobe (accuracy)"), "flag", default=True),
        Parameter("msprof_analyze", _("msprof-analyze (performance)"), "flag", default=True),
        Parameter("pytorch_analysis", _("What PyTorch Analyse and GPU2Ascend import"), "flag"),
        Parameter("tensorflow_converter", _("What the TensorFlow converter imports"), "flag"),
        Parameter("corpus", _("What corpus conversion and preprocessing import"), "flag"),
        *PLACE, CONFIRMED,
    )
    practice_runs = (PracticeRun({"pytorch_analysis": True, "confirmed": True},
                                 {"mindstudio-probe": "1.0.0", "pandas": "1.2.4"}),)

    def requirements(self, parameters):
        words = [word for name, found in TOOLS.items() if parameters[name] for word in found]
        return list(dict.fromkeys(words))

    def clean(self, values):
        cleaned = super().clean(values)
        if not self.requirements(cleaned):
            raise InvalidInput(gettext("Choose at least one tool."))
        return cleaned
