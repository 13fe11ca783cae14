"""Fixtures that every folder of tests uses."""

import fcntl
import gc
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection
from django.db.models.signals import post_migrate, post_save
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from delivery.portal.audit.action_labels import ACTION_LABELS
from engagements.audit_rows import tracking
from engagements.models import AuditEntry, Customer, Engagement, Membership, Role, User
from tests import cached_fixtures, programs
from tests.cached_fixtures import cached_fixture
from tests.on_postgresql import depends_on_database, is_left_out
from tests.practice_nodes import enrolled
from tests.recorded_actions import RecordedActions
from tests.workers.shell_kind import ShellKind
from workers import services
from workers.kinds import base as registry
from workers.services import reading_requests

pytest.register_assert_rewrite("tests.transition_cases")

ROLES = list(Role.values)
TESTS = Path(__file__).parent
DEFAULT_RUN = "not browser and not slow and not everything"  # as pyproject.toml says
WITH_SLOW = "not browser and not everything"
PRODUCT = tuple(f"{TESTS.parent / part}{os.sep}" for part in (
    "engagements", "workers", "assessments", "delivery", "bundle_verifier", "practice_node",
    "toolreaders"))

# How long an example takes or is thought about says how busy the machine is. A build tries the
# same examples every time; whoever works on the code meets new ones.
hypothesis_settings.register_profile(
    "desk", deadline=None, suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ)
hypothesis_settings.load_profile("desk")


def pytest_addoption(parser):
    parser.addoption("--database-only", action="store_true",
                     help="only tests whose answer depends on the database, for another one")
    parser.addoption("--everything", action="store_true",
                     help="slow and browser tests too, and those that repeat others more widely")
    parser.addoption("--examples", type=int, default=2,
                     help="right requests of each operation that test_openapi_conformance sends")
    parser.addoption("--role", action="append", choices=ROLES,
                     help="as whom it sends them; all roles if left out")
    parser.addoption("--runtime", choices=["host", "container", "running", "slurm"], default="host",
                     help="in what the job kinds run that are tried on the practice node")


def pytest_configure(config):
    gc.disable()  # until all tests are collected
    # Rights of Django's own are asked for nowhere; each test that commits made them all anew.
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.connect(_note_flush, dispatch_uid="flush after a test")
    asked = config.option
    is_named = config.args_source is config.ArgsSource.ARGS
    if is_named and asked.markexpr == DEFAULT_RUN:  # files and folders that are named run whole
        asked.markexpr = WITH_SLOW
    if asked.everything:
        asked.markexpr = ""
        from tests import transition_cases

        transition_cases.is_whole = True
    config.pluginmanager.register(RecordedActions(is_whole_run=(
        config.args_source is config.ArgsSource.TESTPATHS and not asked.keyword
        and asked.markexpr in ("", DEFAULT_RUN, WITH_SLOW)
        and not (asked.database_only or getattr(asked, "lf", False) or asked.deselect))))


def pytest_ignore_collect(collection_path, config):
    """With --database-only the other modules are not even imported."""
    if config.getoption("--database-only") and collection_path.is_file():
        return not depends_on_database(collection_path, TESTS) or None
    return None


def pytest_collection_modifyitems(config, items):
    if config.getoption("--database-only"):
        left = [test for test in items if is_left_out(test, TESTS)]
        config.hook.pytest_deselected(items=left)
        items[:] = [test for test in items if test not in left]


def pytest_collection_finish():
    """What stands now stays to the end: looking through it again and again took a tenth of the
    processor time."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
    gc.enable()


def pytest_runtest_setup(item):
    marker = item.get_closest_marker("django_db")
    commits = marker.kwargs.get("transaction") if marker else False
    commits = commits or {"transactional_db", "live_server"} & set(item.fixturenames)
    cached_fixtures.store().begin_test(is_rolled_back=not commits)


def _note_flush(using, **_signal):
    if using == "default":
        cached_fixtures.store().was_flushed = True


@pytest.fixture(autouse=True)
def _quick_and_isolated(settings, tmp_path):
    """A fast hasher, files and queue in the test's own folder, tasks and rendering in this process,
    no looks at cards, and no language that a test before has left active."""
    translation.deactivate()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.MEDIA_ROOT = tmp_path / "artifacts"
    settings.VAR_DIR = tmp_path
    settings.CELERY_TASK_ALWAYS_EAGER = False
    cache = settings.CACHES["default"]
    place = {"LOCATION": tmp_path / "cache"} if isinstance(cache["LOCATION"], Path) else {}
    settings.CACHES = {"default": {**cache, **place, "KEY_PREFIX": str(tmp_path)}}
    settings.AXES_ENABLED = False
    settings.SAMPLE_SECONDS = 0
    settings.RENDER_PROCESS = settings.READ_PROCESS = False
    settings.WHITENOISE_AUTOREFRESH = True  # else each client lists every static file
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture(autouse=True)
def _uploads_are_read_at_once(request, monkeypatch):
    """Stored files are read as soon as that is asked for, as a worker does a moment later.

    A test of the hand-over itself is marked `workers_read`: there only workers do.
    """
    if request.node.get_closest_marker("workers_read") is None:
        monkeypatch.setattr(
            reading_requests, "enqueue_on_commit",
            lambda _task, pk: reading_requests.read_requested(pk))


@pytest.fixture(autouse=True)
def _every_program_is_declared():
    """What a test starts is installed by `./desk` or `.ci/run`, or the test skips without it."""
    programs.undeclared.clear()
    yield
    assert programs.undeclared == set(), "tests/programs.py names no package for them"


@pytest.fixture(autouse=True)
def _every_action_has_a_label():
    """Every action that a test writes to the audit log has a label on the log's page."""
    unknown = set()

    def look(instance, **_rest):
        if instance.action not in ACTION_LABELS:
            unknown.add(instance.action)

    post_save.connect(look, sender=AuditEntry)
    yield
    post_save.disconnect(look, sender=AuditEntry)
    assert unknown == set(), "delivery/portal/audit/action_labels.py has no labels for them"


class WatchedPendingWrite(tracking.PendingWrite):
    """Knows which line of the product wrote its row; None for what a test wrote itself."""

    late: set[str] = set()

    def __init__(self, *args):
        super().__init__(*args)
        self.writer = _writer()

    def __call__(self) -> None:
        if not self.is_collected:
            self.remember()
        super().__call__()

    def remember(self) -> None:
        if self.writer:
            self.late.add(f"{self.table._meta.label}: {self.writer}")


tracking.PendingWrite = WatchedPendingWrite


def _writer() -> str | None:
    frame = sys._getframe(2)
    while frame:
        name = frame.f_code.co_filename
        if name.startswith(PRODUCT) and name != tracking.__file__:
            return f"{name.removeprefix(str(TESTS.parent))}:{frame.f_lineno} {frame.f_code.co_name}"
        if name.startswith(str(TESTS)):
            return None
        frame = frame.f_back
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """No service writes a row after its entry in the audit log: a crash between the two would
    leave a good row that the log does not know."""
    result = yield
    for _savepoints, note, _is_robust in connection.run_on_commit:
        if isinstance(note, WatchedPendingWrite) and not note.is_collected:
            note.remember()
    late, WatchedPendingWrite.late = sorted(WatchedPendingWrite.late), set()
    assert late == [], "write these rows before audit_log.record, in its transaction"
    return result


@pytest.fixture
def empty_database(tmp_path):
    """The environment of a process that works on a new database of the suite's kind."""
    env = {**os.environ, "DESK_VAR_DIR": str(tmp_path), "DESK_AUDIT_KEY": "upgrade-test",
           "DJANGO_SETTINGS_MODULE": "delivery.settings", "PYTHONPATH": str(TESTS.parent)}
    if connection.vendor == "sqlite":
        yield {**env, "DATABASE_URL": f"sqlite:///{tmp_path / 'upgrade.sqlite3'}"}
        return
    name, known = f"upgrade_{os.getpid()}", connection.settings_dict
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"create database {name}")
    try:
        password = f":{known['PASSWORD']}" if known["PASSWORD"] else ""
        yield {**env, "DATABASE_URL": f"postgresql://{known['USER']}{password}@{known['HOST']}:"
                                      f"{known['PORT'] or 5432}/{name}"}
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"drop database {name}")


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory) -> Path:
    """One for all processes of the run."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def migrated_file(shared_folder) -> Path:
    """A new SQLite database as `migrate` makes it, for processes that begin with a copy of it."""
    folder, file = shared_folder, shared_folder / "migrated.sqlite3"
    with (folder / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            made = folder / "migrating.sqlite3"
            subprocess.run(
                [sys.executable, "-W", "ignore", "manage.py", "migrate", "--verbosity", "0"],
                cwd=TESTS.parent, check=True,
                env={**os.environ, "DESK_VAR_DIR": str(folder / "migrating"),
                     "DATABASE_URL": f"sqlite:///{made}",
                     "DJANGO_SETTINGS_MODULE": "delivery.settings"})
            made.rename(file)
    return file


@pytest.fixture
def migrated_database(empty_database, migrated_file, tmp_path):
    """As `empty_database`; on SQLite nothing is left for `migrate` to do there."""
    if connection.vendor == "sqlite":
        shutil.copy(migrated_file, tmp_path / "upgrade.sqlite3")
    return empty_database


@pytest.fixture
@cached_fixture
def people(db) -> dict[str, User]:
    """One active user per role."""
    return {
        role: User.objects.create_user(role, password="Trial-2026!", role=role,
                                       full_name=role.title(),
                                       is_staff=role == Role.ADMINISTRATOR,
                                       is_superuser=role == Role.ADMINISTRATOR)
        for role in ROLES
    }


@pytest.fixture
@cached_fixture
def engagement(people) -> Engagement:
    """An engagement of which everybody is a member."""
    customer = Customer.objects.create(name="某电力公司", name_en="A power company",
                                       credit_code="91350100M000100Y43")
    found = Engagement.objects.create(code="EP2501", name="变电站巡检模型迁移",
                                      name_en="Substation inspection", customer=customer)
    for role, user in people.items():
        Membership.objects.create(engagement=found, user=user, role=role)
    return found


@pytest.fixture
@cached_fixture
def stranger(db) -> User:
    """A consultant who is a member of nothing."""
    return User.objects.create_user("stranger", password="Trial-2026!", role=Role.CONSULTANT)


@pytest.fixture
@cached_fixture
def world(people, engagement, settings, tmp_path) -> dict[str, list]:
    """One of everything that a page shows: the arguments of the routes, by name."""
    from tests import page_world

    return page_world.world(people, engagement, settings, tmp_path)


@pytest.fixture
def not_typeset(monkeypatch):
    """Who may open a PDF is asked, not what it shows; typesetting takes a second each."""
    from delivery.planning.document_files import KINDS
    from delivery.quotes import quote_files

    monkeypatch.setitem(quote_files.RENDERERS, "pdf", lambda quote, language: b"%PDF-1.7")
    monkeypatch.setitem(KINDS, "minutes", replace(
        KINDS["minutes"], render=lambda meeting, language: b"%PDF-1.7"))


@pytest.fixture(scope="session")
def ssh_server(tmp_path_factory):
    """The practice node on a free loopback port, for the whole run."""
    from practice_node.server import running_practice_node

    with running_practice_node(tmp_path_factory.mktemp("node")) as handle:
        yield handle


@pytest.fixture
def node(people, ssh_server):
    """The practice node, enrolled and confirmed."""
    return enrolled(people["operator"], ssh_server)


@pytest.fixture
def queue(people, node, engagement, monkeypatch):
    """Queues a shell script as a job of the engagement on the node."""
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())

    def go(script, cards=0):
        return services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                                  engagement=engagement,
                                  parameters={"script": script, "cards": cards})

    return go
