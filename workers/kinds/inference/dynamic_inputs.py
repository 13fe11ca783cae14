"""Inputs of several sizes in one offline model: --dynamic_batch_size, --dynamic_image_size and
--dynamic_dims of atc, of which one may be set (hicann/ge api/atc/atc_flags.cc; ATC guide, CANN 8.x:
2 to 100 gears, the sizes they replace are -1 in --input_shape).
"""

import re
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from workers.kinds.parameters import Parameter

BATCH, IMAGE, DIMS = "dynamic_batch_size", "dynamic_image_size", "dynamic_dims"
DYNAMIC = {BATCH: _("Batch sizes"), IMAGE: _("Sizes of images"), DIMS: _("Sizes of any axes")}
FEWEST, MOST = 2, 100
PARAMETERS: tuple[Parameter, ...] = (
    Parameter("dynamic", _("Several sizes"), "choice", is_required=False, choices=tuple(DYNAMIC),
              names=DYNAMIC,
              help=_("Where the sizes are not listed but a range, write it into the input shape, "
                     "for example input:1~8,3,224,224.")),
    Parameter("sizes", _("The sizes"), is_required=False,
              help=_("Batches 1,4,8; images as height,width with “;” between them; of axes a value "
                     "for each -1 of the input shape, groups with “;” between them.")),
)


def option(p: dict[str, Any]) -> list[str]:
    """The argument of atc; none where the model has one size."""
    return [f"--{p['dynamic']}={p['sizes']}"] if p["dynamic"] else []


def check(p: dict[str, Any]) -> None:
    """Raise InvalidInput where the sizes do not fit each other or the input shape."""
    if not p["dynamic"]:
        if p["sizes"]:
            raise InvalidInput(gettext("Say which sizes these are."))
        return
    axes = len(re.findall(r"(?<=[:,])\s*-1\b", p["input_shape"] or ""))
    groups = (p["sizes"] or "").split("," if p["dynamic"] == BATCH else ";")
    wanted = {BATCH: 1, IMAGE: 2, DIMS: axes}[p["dynamic"]]
    if not axes:
        raise InvalidInput(gettext("The axes that get these sizes are -1 in the input shape."))
    if wrong := next((group for group in groups
                      if not re.fullmatch(rf"[1-9]\d*(,[1-9]\d*){{{wanted - 1}}}", group)), None):
        raise InvalidInput(ngettext(
            "“%(group)s” is not %(n)d positive number.", "“%(group)s” is not %(n)d positive "
            "numbers with “,” between them.", wanted) % {"group": wrong, "n": wanted})
    if not FEWEST <= len(set(groups)) <= MOST or len(set(groups)) < len(groups):
        raise InvalidInput(gettext("%(fewest)d to %(most)d different sizes are possible.") % {
            "fewest": FEWEST, "most": MOST})
