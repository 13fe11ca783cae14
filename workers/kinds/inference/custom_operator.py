"""A custom operator in Ascend C: project by msopgen, build, package, and its deployment.

Command and results: msOpGen user guide (26.0.0; CANN 8.x): gen -i -f -c -lan cpp -out, then
build.sh of the project, which leaves build_out/custom_opp_SYSTEM_ARCH.run; --install-path puts
its vendors/ there, which ASCEND_CUSTOM_OPP_PATH names.
"""

from fnmatch import fnmatch
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import FIND_TOOL, script

FRAMEWORKS = {"pytorch": "PyTorch", "tf": "TensorFlow", "onnx": "ONNX", "ms": "MindSpore",
              "aclnn": "aclnn"}
# $1 is the script of checksums; then description, framework, unit, sources, where to deploy.
BUILD = FIND_TOOL + r"""
manifest=$1; description=$2; framework=$3; unit=$4; sources=$5; deploy=$6
tool=$(find_tool msopgen python/site-packages/bin) || exit 127
# msopgen of CANN 8.x refuses a description that somebody else owns
cp "$description" operator.json && chmod 600 operator.json || exit $?
"$tool" gen --input operator.json --framework "$framework" --compute_unit "$unit" \
    --language cpp --output project || exit $?
for part in op_host op_kernel framework; do
    [ ! -d "$sources/$part" ] || cp -R "$sources/$part" project/ || exit $?
done
cann=${ASCEND_HOME_PATH:-$ASCEND_TOOLKIT_HOME}
[ -z "$cann" ] || [ ! -f project/CMakePresets.json ] ||
    sed -i "s|\"/usr/local/Ascend/[a-z/-]*latest\"|\"$cann\"|" project/CMakePresets.json
(cd project && bash build.sh) || exit $?
cp project/build_out/custom_opp_*.run . || exit $?
[ -z "$deploy" ] || { mkdir -p "$deploy" && bash ./custom_opp_*.run --install-path="$deploy" &&
    python3 -c "$manifest" "$deploy/vendors" deployed; }
"""
DEPLOYED = ngettext_noop(
    "%(package)s is built and deployed: %(files)d file below vendors.",
    "%(package)s is built and deployed: %(files)d files below vendors.", "files")


@register
class CustomOperator(JobKind):
    code = "adapt.custom_operator"
    title = _("Custom operator (Ascend C)")
    description = _("Makes the operator's project with msopgen, lays the operator's own sources "
                    "into it, builds it, keeps the package (.run) and deploys it.")
    success = _("The package was written; where it is deployed, files lie below vendors.")
    stages = (Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE)
    timeout_seconds = 4 * 3600
    usual_seconds = 600
    collect = ("custom_opp_*.run", "deployed.report.json")
    parameters: ClassVar = (
        Parameter("prototype", _("Description of the operators"), "path",
                  help=_("JSON: a list of operators with op, input_desc, output_desc and attr.")),
        Parameter("sources", _("Folder of the sources"), "path",
                  help=_("With op_host and op_kernel; they take the place of the project's "
                         "drafts.")),
        Parameter("framework", _("Framework"), "choice", default="pytorch",
                  choices=tuple(FRAMEWORKS), names=FRAMEWORKS),
        Parameter("compute_unit", _("Compute unit"), "name", default="ai_core-ascend910b",
                  help=_("ai_core- and the chip in small letters, as msopgen wants it.")),
        Parameter("deploy_to", _("Deployed to"), "path", is_required=False,
                  help=_("Folder for ASCEND_CUSTOM_OPP_PATH: give its vendors/NAME to the "
                         "conversion. Empty: not deployed.")),
    )
    good_run = GoodRun(parameters={"deploy_to": "~/opp"}, files=("custom_opp_*.run",),
                       log_shows=LogShows.NOTHING, reads_content=False)
    practice_runs = (PracticeRun({"prototype": "~/projects/add_custom/add_custom.json",
                                  "sources": "~/projects/add_custom", "deploy_to": "~/opp"},
                                 {"files": 2}),)

    def argv(self, parameters):
        p = parameters
        return ["sh", "-c", BUILD, "custom_operator", script("manifest"), p["prototype"],
                p["framework"], p["compute_unit"], p["sources"], p["deploy_to"] or ""]

    def handed_over(self, names):
        return next((name for name in names if name.endswith(".run")), "")

    def conclude(self, finished: Finished) -> Judgement:
        packages = [name for name in finished.files if fnmatch(name, "custom_opp_*.run")
                    and not finished.is_empty(name)]
        if finished.exit_status != 0 or not packages:
            return Judgement(False, gettext_noop("No package was built; the log shows why."))
        facts = {"package": packages[0]}
        if not finished.parameters["deploy_to"]:
            return Judgement(True, gettext_noop("%(package)s is built; it is not deployed."),
                             facts, facts)
        files = (finished.report("deployed") or {}).get("files") or []
        if not files:
            return Judgement(False, gettext_noop(
                "%(package)s is built, but nothing lies below vendors after its deployment."),
                facts, facts)
        facts |= {"files": len(files)}
        return Judgement(True, DEPLOYED, facts, facts)
