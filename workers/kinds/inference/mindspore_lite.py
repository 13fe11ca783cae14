"""Conversion with MindSpore Lite (DOMAIN 4.5, R-INF-07)."""

from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register

LITE_FORMATS = {"MINDIR": "MindSpore", "ONNX": "ONNX", "TF": "TensorFlow",
                "TFLITE": "TensorFlow Lite", "CAFFE": "Caffe", "PYTORCH": "PyTorch"}
LITE_TARGETS = {"ascend": _("Ascend: .mindir"), "general": _("CPU and other devices: .ms")}
# converter_lite of the cloud and of the device edition write one kind each without being told.
LITE_OPTIONS = {"ascend": ("--saveType=MINDIR", "--optimize=ascend_oriented"),
                "general": ("--saveType=MINDIR_LITE", "--optimize=general")}
LITE_ENDINGS = {"ascend": ".mindir", "general": ".ms"}


@register
class MindsporeLite(JobKind):
    code = "inf.mslite"
    title = _("MindSpore Lite conversion")
    description = _("Converts a model with converter_lite: to .mindir for Ascend, to .ms for "
                    "other devices.")
    success = _("The log says CONVERT RESULT SUCCESS and the file of the target exists.")
    usual_seconds = 300
    stages = (Stage.INFER_MIGRATE,)
    timeout_seconds = 4 * 3600
    collect = ("*.ms", "*.mindir")
    parameters: ClassVar = (
        Parameter("model_file", _("Model file on the node"), "path"),
        Parameter("framework", _("Framework"), "choice", default="ONNX",
                  choices=tuple(LITE_FORMATS), names=LITE_FORMATS),
        Parameter("weight_file", _("Weights (Caffe)"), "path", is_required=False,
                  help=_("The .caffemodel; Caffe cannot be converted without it.")),
        Parameter("target", _("Target"), "choice", default="ascend", choices=tuple(LITE_TARGETS),
                  names=LITE_TARGETS),
        Parameter("library_path", _("Folder of the converter's libraries"), "path",
                  default="/usr/local/mindspore-lite/tools/converter/lib",
                  help=_("Put in front of LD_LIBRARY_PATH; the converter lies beside it.")),
    )

    def clean(self, values):
        cleaned = super().clean(values)
        if cleaned["framework"] == "CAFFE" and not cleaned["weight_file"]:
            raise InvalidInput(gettext("“%(label)s” is missing.")
                               % {"label": gettext("Weights (Caffe)")})
        return cleaned

    def argv(self, parameters):
        p = parameters
        # The converter lies beside its libraries; variables of the node's own set_env stay.
        script = ('l=$1 m=$2 w=$3; shift 3; [ -z "$w" ] || set -- --weightFile="$w" "$@"; '
                  'export LD_LIBRARY_PATH="$l${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; '
                  'PATH="$PATH:$l/../converter"; '
                  'exec converter_lite --modelFile="$m" --outputFile=model "$@"')
        return ["sh", "-c", script, "lite", p["library_path"], p["model_file"],
                p["weight_file"] or "", f"--fmk={p['framework']}", *LITE_OPTIONS[p["target"]]]

    def facts(self, parameters):
        return {"lite_input": parameters["framework"], "uses_lite": True,
                "LD_LIBRARY_PATH": parameters["library_path"]}

    def conclude(self, finished: Finished) -> Judgement:
        ending = LITE_ENDINGS[finished.parameters["target"]]
        produced = [name for name in finished.files if name.endswith(ending)]
        if "CONVERT RESULT SUCCESS" not in finished.log or not produced:
            return Judgement(False, gettext_noop("The conversion failed; the log shows why."))
        return Judgement(True, gettext_noop("Converted: %(name)s."), {"name": produced[0]})
