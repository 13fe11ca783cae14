"""Installations on a node (DOMAIN 4.1). Each wants an explicit confirmation."""

import re
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.parameters import CARDS_OF_A_NODE

CONFIRMED = Parameter(
    "confirmed", _("The customer has approved this installation"), "flag", must_confirm=True,
    help=_("It changes the node for everybody and may need a restart."))
CHECKSUMS = Parameter("checksums", _("Checksum file"), "path",
                      help=_("As sha256sum writes it; a package that is not in it is refused."))
# Arguments: the packages; $sums is their checksum file. Nothing is run unchecked.
CHECK = r"""
for package; do
  name=$(basename "$package")
  (cd "$(dirname "$package")" && grep -F "  $name" "$sums" | sha256sum -c -) || {
    echo "checksum refused: $name"; exit 3; }
done
"""
# First the driver, then the firmware; over an installed driver the other way round (vendor's
# installation guides of 24.1 and CANN 9.0). Driver and firmware know --full, not --install.
HDK = "sums=$1; shift" + CHECK + r"""
driver() { chmod +x "$1" && "$1" --full --install-for-all --quiet || exit $?; }
firmware() { chmod +x "$1" && "$1" --full --quiet || exit $?; }
if npu-smi info >/dev/null 2>&1; then echo "desk: over an installed driver, firmware first"
  firmware "$2"; driver "$1"
else driver "$1"; firmware "$2"; fi
exec npu-smi info
"""
# The packages after the toolkit look for it in the environment.
CANN = "folder=$1; sums=$2; shift 2" + CHECK + r"""
for package; do
  chmod +x "$package" && "$package" --install --quiet --install-path="$folder" || exit $?
  for env in "$folder"/ascend-toolkit/set_env.sh "$folder"/cann/set_env.sh; do
    [ -f "$env" ] && . "$env"
  done
done
info=$(find "$folder" -name ascend_toolkit_install.info 2>/dev/null | sort | tail -n 1)
[ -n "$info" ] && cp "$info" ascend_toolkit_install.info
"""


TABLE_END = re.compile(r"\+[-=]+(?:\+[-=]+)+\+\s*\Z")
RUNNING = re.compile(r"^running true image sha256:[0-9a-f]{64}$", re.MULTILINE)
CHIP = re.compile(r"^\|\s*\d+\s+\w*\d{3}\w*\s*\|\s*[A-Za-z]+\s*\|", re.MULTILINE)


class _Install(JobKind):
    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 2 * 3600
    usual_seconds = 900

    packages: ClassVar[tuple[str, ...]] = ()  # parameters that name them

    def facts(self, parameters):
        """The packages' names: they carry architecture and chip (R-ENV-22)."""
        names = [(parameters[name] or "").rsplit("/", 1)[-1] for name in self.packages]
        return {"packages": [name for name in names if name]} if any(names) else {}

    def refused(self, finished: Finished) -> Judgement | None:
        """What speaks against success, whatever was installed."""
        unchecked = [name for parameter in self.packages
                     if (name := (finished.parameters[parameter] or "").rsplit("/", 1)[-1])
                     and f"{name}: OK" not in finished.log]
        if "checksum refused" in finished.log:
            return Judgement(False, gettext_noop(
                "A package does not have the checksum of the list; nothing was installed."))
        if finished.exit_status != 0 or "[ERROR]" in finished.log:
            return Judgement(False, gettext_noop(
                "The installation failed with status %(status)s; the log shows why."),
                {"status": finished.exit_status})
        if unchecked:
            return Judgement(False, gettext_noop(
                "The log does not say that the checksum of %(which)s was right: whether it was "
                "installed is not known."), {"which": ", ".join(unchecked)})
        return None


@register
class HdkInstall(_Install):
    code = "env.hdk_install"
    title = _("Driver and firmware installation")
    description = _("Checks and installs driver and firmware: the driver first, over an installed "
                    "one the firmware first.")
    success = _("Both packages end with status 0 and npu-smi lists chips afterwards.")
    parameters: ClassVar = (
        Parameter("driver", _("Driver package on the node"), "path"),
        Parameter("firmware", _("Firmware package on the node"), "path"),
        CHECKSUMS, CONFIRMED,
    )
    packages = ("driver", "firmware")
    good_run = GoodRun(parameters={"driver": "~/Ascend-hdk-910b-npu-driver.run",
                                   "firmware": "~/Ascend-hdk-910b-npu-firmware.run"})
    practice_runs = (PracticeRun({"checksums": "~/data/packages/SHA256SUMS", "confirmed": True,
                                  "driver": "~/data/packages/Ascend-hdk-910b-npu-driver.run",
                                  "firmware": "~/data/packages/Ascend-hdk-910b-npu-firmware.run"}),)

    def argv(self, parameters):
        p = parameters
        return ["sh", "-c", HDK, "install", p["checksums"], p["driver"], p["firmware"]]

    def conclude(self, finished: Finished) -> Judgement:
        refused = self.refused(finished)
        if refused:
            return refused
        if not CHIP.search(finished.log) or not TABLE_END.search(finished.log):
            return Judgement(False, gettext_noop(
                "Installed, but npu-smi lists no chips or not to its end; the node may need a "
                "restart."))
        return Judgement(True, gettext_noop(
            "Driver and firmware are installed; npu-smi lists the chips. A restart may be "
            "needed."))


@register
class CannInstall(_Install):
    code = "env.cann_install"
    title = _("CANN installation")
    description = _("Checks and installs toolkit, then kernels, then NNAL.")
    success = _("Every package ends with status 0 and the version file names the wanted version "
                "or a newer one.")
    collect = judged_files = ("ascend_toolkit_install.info",)
    parameters: ClassVar = (
        Parameter("toolkit", _("Toolkit package on the node"), "path"),
        Parameter("kernels", _("Kernels package on the node"), "path", is_required=False,
                  help=_("For the node's chip; from CANN 8.5 on its name ends in -ops.")),
        Parameter("nnal", _("NNAL package on the node"), "path", is_required=False,
                  help=_("Acceleration library with ATB; MindSpeed and MindIE need it.")),
        CHECKSUMS,
        Parameter("install_path", _("Folder to install into"), "path",
                  default="/usr/local/Ascend"),
        Parameter("least_version", _("Least version"), default="8.0.0",
                  help=_("Of the toolkit, as its version file names it.")),
        CONFIRMED,
    )

    packages = ("toolkit", "kernels", "nnal")
    good_run = GoodRun(parameters={"toolkit": "~/Ascend-cann-toolkit.run",
                                   "nnal": "~/Ascend-cann-nnal.run"},
                       log_shows=LogShows.DEVICE_ONLY)
    practice_runs = (PracticeRun({"checksums": "~/data/packages/SHA256SUMS", "confirmed": True,
                                  "toolkit": "~/data/packages/Ascend-cann-toolkit.run",
                                  "nnal": "~/data/packages/Ascend-cann-nnal.run",
                                  "install_path": "~/installed"}, {"version": "8.5.0"}),)

    def argv(self, parameters):
        p = parameters
        packages = [p[name] for name in self.packages if p[name]]
        return ["sh", "-c", CANN, "install", p["install_path"], p["checksums"], *packages]

    def facts(self, parameters):
        return {"install_order": [n for n in ("toolkit", "kernels", "nnal") if parameters[n]]}

    def conclude(self, finished: Finished) -> Judgement:
        refused = self.refused(finished)
        if refused:
            return refused
        found = finished.readings.get(self.collect[0])
        version = str(found.values.get("version") or "") if found else ""
        facts = {"version": version or "–", "least": finished.parameters["least_version"]}
        if _numbers(version) < _numbers(facts["least"]):
            return Judgement(False, gettext_noop(
                "Version %(version)s is installed; %(least)s is the least."), facts, facts)
        return Judgement(True, gettext_noop("CANN %(version)s is installed."), facts, facts)


def _numbers(version: str) -> tuple[int, ...]:
    """8.0.RC3 -> (8, 0, 0): release candidates count as before the release's first patch."""
    return tuple(int(word) if word.isdigit() else 0 for word in version.split("."))


@register
class MindSpeedInstall(_Install):
    code = "env.mindspeed_install"
    title = _("MindSpeed installation")
    description = _("Clones MindSpeed and Megatron-LM, checks the branches out, installs with "
                    "pip.")
    success = _("Both repositories stand at the asked-for branches and pip knows MindSpeed.")
    collect = judged_files = ("packages.txt",)
    parameters: ClassVar = (
        Parameter("mindspeed_url", _("Address of MindSpeed"), "name",
                  default="https://gitee.com/ascend/MindSpeed.git"),
        Parameter("mindspeed_branch", _("Branch of MindSpeed"), "name",
                  default="2.0.0_core_r0.8.0"),
        Parameter("megatron_url", _("Address of Megatron-LM"), "name",
                  default="https://github.com/NVIDIA/Megatron-LM.git"),
        Parameter("megatron_branch", _("Branch of Megatron-LM"), "name", default="core_r0.8.0"),
        Parameter("folder", _("Folder to clone into"), "path", default="~",
                  help=_("MindSpeed and Megatron-LM become folders of it.")),
        CONFIRMED,
    )
    good_run = GoodRun(files=("packages.txt",))
    practice_runs = (PracticeRun({"folder": "work", "confirmed": True}),)

    def argv(self, parameters):
        script = ('set -e; here=$PWD; mkdir -p "$1"; cd "$1"; '
                  'git clone -b "$3" -- "$2" MindSpeed; git clone -b "$5" -- "$4" Megatron-LM; '
                  'echo "head MindSpeed $(git -C MindSpeed rev-parse HEAD)"; '
                  'echo "head Megatron-LM $(git -C Megatron-LM rev-parse HEAD)"; '
                  'pip3 uninstall -y mindspeed; '  # R-ENV-12: an old one would stay first
                  'pip3 install -e MindSpeed; pip3 list > "$here/packages.txt"')
        names = ("folder", "mindspeed_url", "mindspeed_branch", "megatron_url", "megatron_branch")
        return ["sh", "-c", script, "install", *(parameters[name] for name in names)]

    def facts(self, parameters):
        return {name: parameters[f"{name}_branch"] for name in ("mindspeed", "megatron")}

    def conclude(self, finished: Finished) -> Judgement:
        refused = self.refused(finished)
        heads = dict(line.split()[1:3] for line in finished.log.splitlines()
                     if line.startswith("head ") and len(line.split()) == 3)
        if refused or len(heads) < 2:
            return refused or Judgement(False, gettext_noop("A repository was not cloned."))
        if not any("mindspeed" in reading.values.get("packages", {})
                   for reading in finished.in_files("version_info")):
            return Judgement(False, gettext_noop("pip does not list MindSpeed."))
        pair = {name: finished.parameters[f"{name}_branch"] for name in ("mindspeed", "megatron")}
        facts = {"mindspeed": heads["MindSpeed"][:12], "megatron": heads["Megatron-LM"][:12]}
        if pair["megatron"] not in pair["mindspeed"] and pair["mindspeed"] != "master":
            return Judgement(True, gettext_noop(
                "MindSpeed %(mindspeed)s and Megatron-LM %(megatron)s are installed; their "
                "branches do not name each other, check that they belong together."), facts, facts)
        return Judgement(True, gettext_noop(
            "MindSpeed %(mindspeed)s and Megatron-LM %(megatron)s are installed."), facts, facts)


def _devices(parameters: dict) -> list[str]:
    """Device files of the container: three for control, one per card (R-ENV-13)."""
    control = ("davinci_manager", "hisi_hdc", "devmm_svm")
    return [f"/dev/{name}" for name in (
        *control, *(f"davinci{n}" for n in range(parameters["devices"])))]


@register
class MindieContainer(_Install):
    code = "env.mindie_container"
    title = _("MindIE container")
    description = _("Starts a MindIE container with one device file per card.")
    success = _("Docker gives the container's number and the container runs.")
    parameters: ClassVar = (
        Parameter("image", _("Image"), "name"),
        Parameter("name", _("Name of the container"), "name", default="mindie"),
        Parameter("devices", _("Cards"), "integer", default=CARDS_OF_A_NODE, minimum=1, maximum=16,
                  help=_("Devices 0 to n−1 are passed on.")),
        Parameter("shm_gb", _("Shared memory"), "integer", default=16, minimum=1, maximum=1024,
                  unit="GB"),
        Parameter("weights", _("Folder of the weights"), "path",
                  help=_("Read-only in the container, as /weights.")),
        CONFIRMED,
    )
    practice_runs = (PracticeRun({"image": "mindie:2.0", "weights": "~/data/weights",
                                  "confirmed": True}),)

    def facts(self, parameters):
        return {"container_devices": _devices(parameters), "cards": parameters["devices"],
                "shm_size_gb": parameters["shm_gb"], "mindie_image": parameters["image"]}

    def argv(self, parameters):
        p = parameters
        mounts = ["/usr/local/Ascend/driver:/usr/local/Ascend/driver:ro",
                  "/usr/local/sbin:/usr/local/sbin:ro"]
        # A ~ inside of an option stays as it is: the folder of the weights is a word of its own.
        script = ('set -e; name=$1 weights=$2; shift 2; docker run --name "$name" '
                  '--mount "type=bind,source=$weights,target=/weights,readonly" "$@"; '
                  'docker inspect -f "running {{.State.Running}} image {{.Image}}" "$name"')
        return ["sh", "-c", script, "container", p["name"], p["weights"], "-it", "-d", "--net=host",
                f"--shm-size={p['shm_gb']}g", *(f"--device={name}" for name in _devices(p)),
                *(word for mount in mounts for word in ("-v", mount)), p["image"], "bash"]

    def conclude(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0 or not RUNNING.search(finished.log):
            return Judgement(False, gettext_noop("The container does not run; see the log."))
        return Judgement(True, gettext_noop("The container %(name)s runs."),
                         {"name": finished.parameters["name"]})
