"""Office files whose bytes depend on their content alone: no time of writing anywhere."""

import io
import re
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip entry can bear
CORE = "docProps/core.xml"
WRITTEN = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*(</dcterms:\2>)")


def deterministic_zip(data: bytes, day: str) -> bytes:
    """The same package with fixed entry times.

    Args:
        data: an xlsx or docx file.
        day: YYYY-MM-DD; stands as the day on which it was made and changed.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(packed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == CORE:
                content = WRITTEN.sub(rb"\g<1>" + f"{day}T00:00:00Z".encode() + rb"\g<3>", content)
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, content)
    return packed.getvalue()
