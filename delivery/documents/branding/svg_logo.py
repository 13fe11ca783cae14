"""A logo drawn as SVG: plain shapes only, turned into a picture before anything keeps it.

What is allowed is listed; whatever could run, load or unfold is refused by name.
"""

import re
from xml.etree.ElementTree import Element, ParseError, tostring

import vl_convert
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.utils.translation import gettext as _

from engagements.errors import InvalidInput

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {
    "svg", "g", "defs", "title", "desc", "metadata", "style", "path", "rect", "circle", "ellipse",
    "line", "polyline", "polygon", "linearGradient", "radialGradient", "stop", "clipPath"}
LOADS = re.compile(r"url\(\s*['\"]?(?!#)|@|\\|expression|javascript:", re.IGNORECASE)
LENGTH = re.compile(r"\s*([0-9.]+)\s*(?:px|pt|mm|cm|in)?\s*")
MOST_ELEMENTS, MOST_RATIO = 5000, 20.0


def drawn(data: bytes, width: int) -> bytes:
    """The PNG of an SVG, about so many pixels wide.

    Raises InvalidInput naming what is in it beside plain shapes.
    """
    try:
        root = fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise InvalidInput(_("The SVG is damaged or declares entities; re-export it "
                             "as plain SVG.")) from error
    _require_plain(root)
    _drop_foreign(root)
    return vl_convert.svg_to_png(
        tostring(root, encoding="unicode"), scale=width / _natural_width(root))


def _require_plain(root: Element) -> None:
    elements = list(root.iter())
    if root.tag != f"{SVG}svg" or len(elements) > MOST_ELEMENTS:
        raise InvalidInput(_("The file is not an SVG, or has more than %(most)d shapes.") % {
            "most": MOST_ELEMENTS})
    for element in elements:
        name = str(element.tag).removeprefix(SVG)
        if str(element.tag).startswith(SVG) and name not in SHAPES:
            raise InvalidInput(_("The SVG holds <%(name)s>; a logo may hold plain shapes only. "
                                 "Turn letters into outlines, leave out scripts and pictures.") % {
                "name": name[:40]})
        _require_silent(element)


def _require_silent(element: Element) -> None:
    for name, value in element.attrib.items():
        plain = name.rpartition("}")[2].lower()
        is_foreign_link = plain in ("href", "src") and not value.startswith("#")
        if plain.startswith("on") or is_foreign_link or LOADS.search(value):
            raise InvalidInput(_("The SVG tries to run or load something (%(name)s), which a logo "
                                 "may not do.") % {"name": plain[:40]})
    if LOADS.search(element.text or "") and element.tag == f"{SVG}style":
        raise InvalidInput(_("The SVG tries to run or load something (%(name)s), which a logo may "
                             "not do.") % {"name": "style"})


def _drop_foreign(element: Element) -> None:
    """Leave out what drawing programs note for themselves."""
    element[:] = [child for child in element if str(child.tag).startswith(SVG)
                  and child.tag != f"{SVG}metadata"]
    for child in element:
        _drop_foreign(child)


def _natural_width(root: Element) -> float:
    box = re.findall(r"[-0-9.eE]+", root.get("viewBox", ""))
    sizes = [float(m.group(1)) for name in ("width", "height")
             if (m := LENGTH.fullmatch(root.get(name, "")))]
    width, height = sizes if len(sizes) == 2 else map(float, box[2:4] if len(box) == 4 else "00")
    if not (width > 0 and height > 0 and 1 / MOST_RATIO <= width / height <= MOST_RATIO):
        raise InvalidInput(_("The SVG has no usable width and height."))
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
    if len(box) != 4:
        root.set("viewBox", f"0 0 {width:g} {height:g}")
    return width
