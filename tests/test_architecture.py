"""The arrows between the packages, also those that string foreign keys draw."""

import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter

import grimp
import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.core.management import call_command

LAYERS = ["engagements", "workers", "assessments", "delivery"]


def layer(app_config) -> int | None:
    package = app_config.name.split(".")[0]
    return LAYERS.index(package) if package in LAYERS else None


def test_imports_point_down():
    done = subprocess.run([sys.executable, "-c",
                           "from importlinter.cli import lint_imports; import sys;"
                           "sys.exit(lint_imports())"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_modules_import_one_another_in_a_circle():
    """Neither inside functions nor for types only. CycleError names the modules."""
    linted = tomllib.loads((django_settings.BASE_DIR / "pyproject.toml").read_text("utf-8"))
    graph = grimp.build_graph(*linted["tool"]["importlinter"]["root_packages"], cache_dir=None)
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module)
                       for module in graph.modules}).prepare()


def test_heavy_libraries_are_not_loaded_at_start():
    """Commands would wait about half a second for those that only files and nodes need."""
    loaded = ("import django, sys; django.setup();"
              "print(sorted({'asyncssh', 'docx', 'openpyxl', 'pyhanko', 'weasyprint'} "
              "& set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True,
                          check=True)
    assert done.stdout.strip() == "[]"


def test_foreign_keys_point_down():
    upward = [
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models() if layer(model._meta.app_config) is not None
        for field in model._meta.get_fields()
        if field.many_to_one and field.concrete
        and (target := layer(field.related_model._meta.app_config)) is not None
        and target > layer(model._meta.app_config)
    ]
    assert upward == []


@pytest.mark.django_db
def test_no_migration_is_missing(settings):
    settings.MIGRATION_MODULES = {}  # the suite itself works without them
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
