"""A quantity is read where its row says."""

import pytest

from toolreaders.verdicts.quantities import quantities
from toolreaders.verdicts.quantity_rows import BY_NAME, QUANTITIES, QuantityRow


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


def test_a_row_is_enough_for_a_reader_of_its_own(monkeypatch):
    """Its quantities need no code, as long as its values hold them as they stand."""
    row = QuantityRow("rack_watts", "Power", "W", "performance", paths={"rack": ("most",)})
    monkeypatch.setattr("toolreaders.verdicts.quantities.QUANTITIES", (*QUANTITIES, row))
    monkeypatch.setitem(BY_NAME, row.name, row)
    assert [(q.name, q.value, q.unit) for q in quantities("rack", {"most": 7})] == [
        ("rack_watts", 7.0, "W")]


def test_names_are_unique():
    names = [row.name for row in QUANTITIES]
    assert len(names) == len(set(names))
