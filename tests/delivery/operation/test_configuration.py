"""Settings: read as what they are, documented as they are read, typos found."""

from io import StringIO

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from delivery import environment
from delivery.environment import SETTINGS, setting
from delivery.operation import configuration


@pytest.fixture
def declared(monkeypatch):
    """A table of its own for the settings of a test."""
    monkeypatch.setattr(environment, "SETTINGS", {})


@pytest.mark.parametrize("path", configuration.documents(), ids=lambda path: path.name)
def test_documents_are_current(path):
    assert path.read_text("utf-8") == configuration.documents()[path], (
        "run: python manage.py regenerate")


def test_both_languages_tell_of_the_same_settings():
    english, chinese = ([line.split(" | ")[0] for line in text.splitlines()
                         if line.startswith("| `")]
                        for text in configuration.documents().values())
    assert english == chinese == [f"| `{name}`" for name in SETTINGS]


def test_a_setting_has_the_type_of_its_default(declared, monkeypatch):
    monkeypatch.setenv("DESK_A", "5")
    monkeypatch.setenv("DESK_B", "yes")
    monkeypatch.setenv("DESK_C", "1,2")
    assert setting("DESK_A", 1, "") == 5
    assert setting("DESK_B", False, "") is True
    assert setting("DESK_C", [], "") == ["1", "2"]
    assert setting("DESK_D", 0.5, "") == 0.5


def test_a_value_may_lie_in_a_file(declared, monkeypatch, tmp_path):
    (tmp_path / "secret").write_text("from a file")
    monkeypatch.setenv("DESK_A_FILE", str(tmp_path / "secret"))
    assert setting("DESK_A", "", "") == "from a file"


@pytest.mark.parametrize(("value", "default", "limits"), [
    ("many", 1, {}), ("0", 8, {"minimum": 1}), ("xml", "line", {"choices": ("line", "json")})])
def test_a_value_that_cannot_be_understood_stops_with_the_name(declared, monkeypatch, value,
                                                               default, limits):
    monkeypatch.setenv("DESK_A", value)
    with pytest.raises(ImproperlyConfigured, match=r"^DESK_A: "):
        setting("DESK_A", default, "", **limits)


def test_a_setting_is_declared_once(declared):
    setting("DESK_A", 1, "Cards.")
    setting("DESK_A", 1, "Cards.")  # Django reads its settings again after a fault in them
    with pytest.raises(ImproperlyConfigured, match=r"^DESK_A is declared"):
        setting("DESK_A", 1, "Nodes.")


def test_the_check_names_misspelt_variables(monkeypatch):
    monkeypatch.setenv("DESK_WEB_THREAD", "4")
    monkeypatch.setenv("DESK_WEB_THREADS", "4")
    monkeypatch.setenv("DESK_SECRET_KEY_FILE", "/run/secrets/key")
    shown = StringIO()
    call_command("check", stderr=shown)
    named = [line for line in shown.getvalue().splitlines() if "desk.W001" in line]
    assert len(named) == 1
    assert "DESK_WEB_THREAD " in named[0].replace("，", " ")
