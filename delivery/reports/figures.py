"""Pictures of documents, drawn once per content: the same specification is the same SVG."""

from hashlib import sha256
from importlib.metadata import version

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from assessments.charts import as_svg
from delivery.reports.canonical import canonical


def drawn(spec: dict) -> str:
    """The SVG of a Vega-Lite specification; kept under the hash of specification and engine."""
    if not spec:
        return ""
    text = canonical([spec, version("vl-convert-python")])
    name = f"figures/{(digest := sha256(text.encode()).hexdigest())[:2]}/{digest}.svg"
    try:
        with default_storage.open(name, "rb") as stream:
            return stream.read().decode()
    except OSError:
        return _keep(name, as_svg(spec))


def _keep(name: str, svg: str) -> str:
    """Store a picture; if somebody else was quicker, theirs stays."""
    saved = default_storage.save(name, ContentFile(svg.encode()))
    if saved != name:
        default_storage.delete(saved)
    return svg
