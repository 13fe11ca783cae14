"""TensorFlow for aarch64, which no package index holds (seed 000; Ascend's TensorFlow adapter,
installation guide of release 2.6.5: GCC 7.3.0, nsync with barriers, C++ ABI 0)."""

import re
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.environment.frameworks import PYTHON
from workers.kinds.environment.installation import CONFIRMED
from workers.kinds.example_runs import PracticeRun
from workers.kinds.node_scripts import script

# $1 and $2 are scripts of ours; then interpreter, source, nsync's archive, folder of the wheel,
# parallel compilers. `configure` asks questions: the variables and empty lines answer them.
BUILD = r"""
patch=$1; manifest=$2; python=$3; source=$4; nsync=$5; out=$6; jobs=$7
"$python" -c "$patch" "$source" "$nsync" || exit $?
command -v bazel >/dev/null || { echo "bazel: not found" >&2; exit 127; }
here=$PWD; mkdir -p "$out" && out=$(cd "$out" && pwd) && cd "$source" || exit 3
echo "desk: gcc $(gcc -dumpfullversion) $(uname -m)"
export PYTHON_BIN_PATH=$(command -v "$python") TF_NEED_CUDA=0 TF_NEED_ROCM=0 \
  TF_DOWNLOAD_CLANG=0 TF_SET_ANDROID_WORKSPACE=0 CC_OPT_FLAGS=-Wno-sign-compare
yes "" | ./configure || exit $?
bazel build --jobs="$jobs" --config=opt --cxxopt=-D_GLIBCXX_USE_CXX11_ABI=0 \
  //tensorflow/tools/pip_package:build_pip_package || exit $?
./bazel-bin/tensorflow/tools/pip_package/build_pip_package "$out" || exit $?
cd "$here" && "$python" -c "$manifest" "$out/tensorflow-" wheels
"""
LISTED = re.compile(r"^manifest: \d+ files, \d+ bytes\s*\Z", re.MULTILINE)  # the last line


BUILT = ngettext_noop(
    "%(wheel)s is built; %(functions)d function of nsync got a barrier.",
    "%(wheel)s is built; %(functions)d functions of nsync got a barrier.", "functions")


@register
class TensorflowBuild(JobKind):
    code = "env.tensorflow_build"
    title = _("TensorFlow build for aarch64")
    description = _("Gives nsync its memory barriers, enters it in TensorFlow's workspace and "
                    "builds the wheel with bazel and C++ ABI 0.")
    success = _("nsync is patched or was before, and a wheel of TensorFlow lies in the folder, "
                "with its checksum.")
    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 12 * 3600
    usual_seconds = 3 * 3600
    collect = judged_files = ("tensorflow_nsync.report.json", "wheels.report.json")
    parameters: ClassVar = (
        Parameter("source", _("Folder of TensorFlow's source"), "path",
                  help=_("Checked out at the release's tag, for example v2.6.5.")),
        Parameter("nsync", _("Archive of nsync"), "path",
                  help=_("The one that tensorflow/workspace2.bzl names; its SHA-256 is checked.")),
        Parameter("out", _("Folder for the wheel"), "path", default="~/wheels"),
        PYTHON,
        Parameter("jobs", _("Compilers at a time"), "integer", default=8, minimum=1, maximum=512),
        CONFIRMED,
    )
    practice_runs = (PracticeRun({"source": "~/data/tensorflow-2.6.5", "confirmed": True,
                                  "nsync": "~/data/nsync-1.22.0.tar.gz"}, {"functions": 4}),)

    def argv(self, parameters):
        p = parameters
        return ["sh", "-c", BUILD, "build", script("tensorflow_nsync"), script("manifest"),
                p["python"], p["source"], p["nsync"], p["out"], str(p["jobs"])]

    def facts(self, parameters):
        return {"is_compiling": True}

    def conclude(self, finished: Finished) -> Judgement:
        nsync, wheels = finished.report("tensorflow_nsync"), finished.report("wheels")
        if finished.exit_status != 0 or not nsync:
            return Judgement(False, gettext_noop(
                "The build failed with status %(status)s; the log shows why."),
                {"status": finished.exit_status})
        made = [entry for entry in (wheels or {}).get("files") or []
                if entry["name"].endswith(".whl")]
        if not made or not LISTED.search(finished.log):
            return Judgement(False, gettext_noop("No wheel of TensorFlow was written."))
        facts = {"wheel": made[-1]["name"], "sha256": made[-1]["sha256"],
                 "functions": nsync["functions"]}
        if not nsync["functions"]:
            return Judgement(True, gettext_noop(
                "%(wheel)s is built; the workspace named an archive of nsync of its own, which "
                "was not looked into."), facts, facts)
        return Judgement(True, BUILT, facts, facts)
