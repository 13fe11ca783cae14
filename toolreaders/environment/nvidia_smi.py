"""``nvidia-smi -q -x``: the GPUs of a baseline machine."""

import re
from xml.etree import ElementTree

from toolreaders.base import Reader, ReadError, Reading, Sample, Source, register
from toolreaders.number_parsing import whole_number

LARGEST = 16 * 1024**2
DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*>")


@register
class NvidiaSmiReader(Reader):
    """XML with the root ``nvidia_smi_log``."""

    name = "nvidia_smi_xml"
    kind = "nvidia_smi"
    tool = "nvidia-smi"

    def recognises(self, sample: Sample) -> int:
        return 95 if "<nvidia_smi_log>" in sample.text[:4096] else 0

    def read(self, source: Source) -> Reading:
        text = source.text[source.text.index("<nvidia_smi_log>"):]
        if len(text) > LARGEST or "<!ENTITY" in source.text:
            raise ReadError("damaged_file", "The report is too large or defines entities.")
        try:
            root = ElementTree.fromstring(DOCTYPE.sub("", text).strip())
        except ElementTree.ParseError as error:
            raise ReadError("damaged_file", f"The XML is cut off or damaged: {error}.") from error
        values = {"driver_version": root.findtext("driver_version"),
                  "cuda_version": root.findtext("cuda_version"),
                  "gpus": [_gpu(gpu) for gpu in root.iter("gpu")]}
        return self.reading(values, tool_version=values["driver_version"])


def _gpu(gpu) -> dict:
    """Name, bus and memory in MiB of one GPU."""
    memory = (gpu.findtext("fb_memory_usage/total") or "").split()
    return {"bus": gpu.get("id"), "name": gpu.findtext("product_name"),
            "memory_total_mib": whole_number(memory[0]) if memory else None}
