"""Settings: read as what they are, documented as they are read, typos found."""

from io import StringIO

import pytest
from django.core.checks import ERROR
from django.core.checks.registry import registry
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import OperationalError
from django.utils.translation import override

from delivery import environment
from delivery.environment import SETTINGS, setting
from delivery.operation import configuration, diagnosis, readiness


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


def test_a_deployment_with_a_secret_of_the_example_file_is_refused(monkeypatch, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("CHANGE-ME")
    monkeypatch.setenv("DATABASE_URL", "postgresql://desk:CHANGE-ME@127.0.0.1/desk")
    monkeypatch.setenv("DESK_METRICS_TOKEN_FILE", str(secret))
    monkeypatch.setenv("DESK_SECRET_KEY", "changed")
    assert configuration.check_placeholders in registry.deployment_checks
    with override("en"):
        found = configuration.check_placeholders(None)
    assert [(fault.level, fault.msg) for fault in found] == [
        (ERROR, f"{name} still holds CHANGE-ME of the example file.")
        for name in ("DATABASE_URL", "DESK_METRICS_TOKEN")]


@pytest.mark.slow
@pytest.mark.django_db
def test_missing_migrations_are_not_told_as_changed_keys(monkeypatch):
    def no_such_table():
        raise OperationalError("no such table: workers_node")

    monkeypatch.setattr(readiness, "failures", lambda: {"migrations": "lacking"})
    monkeypatch.setattr(diagnosis.Node.objects, "all", no_such_table)
    with override("en"):
        said = [found.sentence for found in diagnosis.findings() if str(found.subject) == "Keys"]
    assert said == ["could not be checked before the database is migrated – "
                    "run `manage.py migrate`, or `./desk upgrade`"]
