"""R-INF: conversion and serving (DOMAIN 5.5, 5.7)."""

from django.utils.translation import gettext_lazy as _

from workers.rules.base import BLOCK, INFO, WARN, rule
from workers.rules.scanned import found_in_scan
from workers.rules.version_matrix import release

SUFFIXES = {"0": (".prototxt",), "1": (".air",), "3": (".pb",), "5": (".onnx",)}
OPSETS = ((6, 11, 11), (7, 9, 18), (8, 11, 15), (9, 11, 18))  # CANN major, lowest, highest
LITE_INPUTS = ("mindir", "mindspore", "tflite", "caffe", "tf", "onnx", "pytorch")
QUANTISATION = {"w8a8": {"channel", "token"}, "w8a16": {"channel", "group"},
                "kv_int8": {"channel"}, "w8a8_sparse": {"channel"}}
FAMILIES = ("llama", "codellama", "baichuan", "mixtral", "qwen", "bloom", "deepseek", "glm",
            "codegeex", "starcoder", "gemma")


def _suffix(f):
    known = SUFFIXES.get(str(f["framework"]))
    return known is None or not str(f["model_file"]).lower().endswith(known)


def _caffe(f):
    weights = str(f.get("weight_file") or "")
    stem = str(f["model_file"]).rsplit(".", 1)[0]
    return str(f["framework"]) == "0" and weights != f"{stem}.caffemodel"


def _opset(f):
    major = release(f["cann"])[0]
    ranges = [(low, high) for known, low, high in OPSETS if known == major]
    if not ranges:
        raise ValueError(f"no opset range for CANN {f['cann']}")
    low, high = ranges[0]
    return not low <= int(f["opset"]) <= high


def _soc(f):
    """910B3 is another chip than 910B. A3 reports plain “910” for all its variants 910_…"""
    wanted, found = (str(f[k]).lower().removeprefix("ascend") for k in ("soc_version", "chip"))
    if found == "910" and wanted.startswith("910_"):
        raise ValueError(f"chip {f['chip']} names no variant")
    return bool(found) and wanted != found


rule("R-INF-01", BLOCK, "X9, S3", "framework model_file",
     _("The framework number must fit the file: 0 Caffe, 1 .air, 3 frozen .pb, 5 ONNX."),
     _("Choose the framework of the model file."), _suffix)
rule("R-INF-02", BLOCK, "X9", "framework product",
     _("Caffe is not supported on Atlas A2, A3 and 800I A2."), _("Convert to ONNX first."),
     lambda f: str(f["framework"]) == "0"
     and any(name in f["product"].upper() for name in ("A2", "A3")))
rule("R-INF-03", BLOCK, "X9", "framework model_file",
     _("Caffe needs prototxt and caffemodel of the same name."),
     _("Name both files alike and pass the weights."), _caffe)
rule("R-INF-04", BLOCK, "X9", "opset cann",
     _("The ONNX opset is outside the range of this CANN release."),
     _("Export again with an opset in the range."), _opset)
rule("R-INF-05", BLOCK, "X9", "framework atc_mode input_format",
     _("Framework 1 works with mode 0 and NCHW only."), _("Use --mode=0 and NCHW."),
     lambda f: str(f["framework"]) == "1"
     and (str(f["atc_mode"]) != "0" or f["input_format"] != "NCHW"))
rule("R-INF-06", BLOCK, "S3, X9", "soc_version chip",
     _("The SoC version must be that of the chip."), _("Enter the chip name that npu-smi shows."),
     _soc)
rule("R-INF-07", BLOCK, "S0", "lite_input",
     _("MindSpore Lite reads MindSpore, TF Lite, Caffe, TF, ONNX and PyTorch."),
     _("Convert the model to ONNX first."),
     lambda f: str(f["lite_input"]).lower() not in LITE_INPUTS)
rule("R-INF-08", WARN, "S0", "uses_lite python LD_LIBRARY_PATH",
     _("MindSpore Lite built with Python 3.11 needs the Python library in LD_LIBRARY_PATH."),
     _("Add the library folder of Python."),
     lambda f: bool(f["uses_lite"]) and release(f["python"])[:2] == (3, 11)
     and "python" not in f["LD_LIBRARY_PATH"])
rule("R-INF-09", BLOCK, "S0", "mindie_dtype",
     _("MindIE computes in float16 or bfloat16."), _("Change torch_dtype in the model's config."),
     lambda f: f["mindie_dtype"] not in ("float16", "bfloat16"), "MindIE 2.0.RC2")
rule("R-INF-10", BLOCK, "S0", "quantisation granularity",
     _("MindIE does not support this quantisation at this granularity."),
     _("Choose a supported pair, for example W8A8 per channel."),
     lambda f: f["granularity"] not in QUANTISATION.get(f["quantisation"], set()),
     "MindIE 2.0.RC2")
rule("R-INF-11", BLOCK, "S0", "mindie_parallel",
     _("MindIE runs tensor parallel only."), _("Set DP, PP and EP to 1."),
     lambda f: any(int(v) > 1 for name, v in f["mindie_parallel"].items() if name != "tp"),
     _("MindIE 1.0.RC2 to 2.0.RC2; newer releases document more"))
rule("R-INF-12", WARN, "S0", "model_family",
     _("The model family is not in the built-in list of MindIE."),
     _("Plan adaptation of the model, or serve it with another engine."),
     lambda f: not any(name in f["model_family"].lower() for name in FAMILIES))
rule("R-INF-13", WARN, "S0", "memory_alignment",
     _("A memory pool shared by media APIs needs an alignment of 128 bytes."),
     _("Align to 128 bytes."), lambda f: int(f["memory_alignment"]) % 128 != 0)
rule("R-INF-14", BLOCK, "S0", "acl_init_calls",
     _("acl.init may be called once in a process."), _("Keep one call at the start."),
     lambda f: int(f["acl_init_calls"]) > 1)
rule("R-INF-15", INFO, "S0", "is_dvpp_chained",
     _("DVPP or AIPP stands before the model."),
     _("Compare the output of the preprocessing first."), lambda f: bool(f["is_dvpp_chained"]))
rule("R-INF-16", WARN, "S0, X26", "media_scenes media_memory",
     _("Pictures or videos are decoded (JPEGD, VDEC) without memory of the media processing."),
     _("Allocate with acl.media.dvpp_malloc or acl.himpi.dvpp_malloc; parts of a pool take "
       "ALIGN_UP(length, 32) + 32 bytes and start at multiples of 128."),
     lambda f: bool(f["media_scenes"])
     and not any(name.endswith("dvpp_malloc") for name in f["media_memory"]))
rule("R-INF-17", INFO, "S0, X27", "scripts",
     _("Feature vectors are searched for with acl.fv (1:N or N:M)."),
     _("Migrate and test the retrieval apart from the model; it needs its own criterion."),
     found_in_scan("R-INF-17"), _("pyACL; Atlas inference products"))
