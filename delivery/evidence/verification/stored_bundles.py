"""What this installation's database knows of a bundle file."""

import zipfile
from pathlib import Path

from django.db import DatabaseError
from django.utils.translation import gettext as _

from bundle_verifier.archive import sha256_of
from bundle_verifier.json_limits import parse_json
from bundle_verifier.manifest_signature import NOBODY_NAMED, ExpectedSigner
from delivery.evidence.models import EvidenceBundle

MAX_BYTES = 2**16  # of bundle.json


def recorded_signer(path: Path) -> ExpectedSigner:
    """Who signed the bundles of this document here; nobody is named where it is not known here.

    Without a database nobody is named either.
    """
    try:
        return _recorded(path)
    except DatabaseError:
        return NOBODY_NAMED


def _recorded(path: Path) -> ExpectedSigner:
    source = _("the record of this installation")
    same = EvidenceBundle.objects.filter(sha256=sha256_of(path)).first()
    if same:
        return ExpectedSigner(frozenset([same.fingerprint]), source, same.created_at)
    number, version = _document_of(path)
    rows = EvidenceBundle.objects.filter(document__number=number, document__version=version)
    known = frozenset(rows.values_list("fingerprint", flat=True))
    return ExpectedSigner(known - {""}, source) if known else NOBODY_NAMED


def _document_of(path: Path) -> tuple[str, int]:
    """Number and version as the file states them; an empty number if it does not."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("bundle.json") as entry:
            manifest = parse_json(entry.read(MAX_BYTES))
        return str(manifest["document"]), int(manifest["version"])
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError, KeyError,
            TypeError, ValueError):
        return "", 0
