"""A quantity is read where its row says."""

import pytest

from toolreaders.verdicts.quantities import quantities
from toolreaders.verdicts.quantity_rows import QUANTITIES


def values_with(path: str, form: str) -> dict:
    found: object = 0.5
    for key in reversed(path.split(".")):
        found = {key: found}
    return {**found, "form": form}


@pytest.mark.parametrize(("row", "kind", "path"), [
    (row, kind, path) for row in QUANTITIES for kind, paths in row.paths.items() for path in paths])
def test_a_quantity_is_found_at_its_path(row, kind, path):
    kind, _slash, form = kind.partition("/")
    [measured] = quantities(kind, values_with(path, form))
    assert (measured.name, measured.value, measured.unit, measured.place) == (
        row.name, 0.5, row.unit, path)


def test_names_are_unique():
    names = [row.name for row in QUANTITIES]
    assert len(names) == len(set(names))
