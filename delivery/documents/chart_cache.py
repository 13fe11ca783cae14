"""Pictures of documents, drawn once per content: the same specification is the same SVG."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.metadata import version
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from assessments.charts import as_svg
from bundle_verifier.canonical import canonical

SVG = "http://www.w3.org/2000/svg"
SILENT = ("class", "role", "pointer-events")  # attributes that nothing in print depends on
FORM = 3  # of what is kept; another number draws every picture anew


def drawn(spec: dict, title: str) -> str:
    """The SVG of a Vega-Lite specification; kept under the hash of specification and engine.

    Args:
        title: what the picture shows, for those who cannot see it.
    """
    if not spec:
        return ""
    return _cached(spec).replace(">", f"><title>{escape(title)}</title>", 1)


def specifications(facts: Any) -> Iterator[dict]:
    """Every picture of a snapshot in every language, in the order of the snapshot."""
    if isinstance(facts, dict):
        found = facts.get("spec")
        if isinstance(found, dict):
            yield from filter(None, found.values())
            return
        facts = facts.values()
    elif not isinstance(facts, list):
        return
    for part in facts:
        yield from specifications(part)


def is_cached(spec: dict) -> bool:
    """Whether the picture needs no more drawing."""
    return default_storage.exists(_name(spec))


def draw_ahead(specs: Iterable[dict]) -> None:
    """Draw and keep pictures that a document will ask for."""
    for spec in specs:
        _cached(spec)


def _name(spec: dict) -> str:
    text = canonical([spec, version("vl-convert-python"), FORM])
    digest = sha256(text.encode()).hexdigest()
    return f"figures/{digest[:2]}/{digest}.svg"


def _cached(spec: dict) -> str:
    name = _name(spec)
    try:
        with default_storage.open(name, "rb") as stream:
            return stream.read().decode()
    except OSError:
        svg = shallow(as_svg(spec))
    stored = default_storage.save(name, ContentFile(svg.encode()))
    if stored != name:  # somebody else was quicker: theirs stays
        default_storage.delete(stored)
    return svg


def shallow(svg: str) -> str:
    """The same picture without groups that change nothing.

    Vega nests a dozen of them; PDF/A allows 28 levels of graphics state (ISO 19005-2, 6.1.13),
    and each group takes two.
    """
    root = ElementTree.fromstring(svg)
    _unwrap(root)
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _unwrap(element: ElementTree.Element) -> None:
    children = []
    for child in element:
        _unwrap(child)
        children += list(child) if _changes_nothing(child) else [child]
    element[:] = children


def _changes_nothing(element: ElementTree.Element) -> bool:
    return element.tag == f"{{{SVG}}}g" and all(
        name in SILENT or name.startswith("aria-") or value == "translate(0,0)"
        for name, value in element.attrib.items())
