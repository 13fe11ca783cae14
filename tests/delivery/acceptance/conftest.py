"""Every test here: short files, people with addresses, the practice certificate."""

import pytest


@pytest.fixture(autouse=True)
def _review_setting(quick_files, addresses, practice_certificate_set):
    """Reviews can be opened, signed and sealed."""
