"""Fixtures of the acceptance tests: bundles belong to reviewed documents."""

from tests.delivery.acceptance.conftest import (  # noqa: F401
    _addresses,
    _practice_certificate,
    _quick_files,
    act,
    practice_p12,
    review,
    typeset,
)
