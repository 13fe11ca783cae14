"""Formats of models, and ways of tuning, in words: the tools take numbers."""

from django.utils.translation import gettext_lazy as _

from workers.kinds.base import Parameter

FRAMEWORKS = {"0": "Caffe", "1": "MindSpore", "3": "TensorFlow", "5": "ONNX"}  # X9, R-INF-01
FRAMEWORK = Parameter(
    "framework", _("Framework"), "choice", default="5", choices=tuple(FRAMEWORKS), names=FRAMEWORKS,
    help=_("Of the model file: .prototxt, .air, a frozen .pb, or .onnx."))
