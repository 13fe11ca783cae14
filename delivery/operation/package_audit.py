"""Known vulnerabilities of the packages installed here and of those the front end is made of.

Either the databases of the package indexes are asked (pip-audit, npm audit), or the packages are
compared with advisories in a folder, for hosts that reach no database. Advisories are files of the
OSV schema (https://ossf.github.io/osv-schema/), one advisory each, as osv.dev publishes them for
every ecosystem (`all.zip` of PyPI and of npm).
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from django.utils.translation import gettext as _
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from engagements.errors import WrongState

PYPI, NPM = "PyPI", "npm"
SECONDS = 600
FIRST = "0"  # "introduced" of an advisory that holds from the first version on


@dataclass(frozen=True)
class Package:
    """One installed package."""

    ecosystem: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.ecosystem})"


@dataclass(frozen=True)
class Vulnerability:
    """An advisory that applies to a package."""

    package: str
    identifier: str
    summary: str


def python_packages() -> list[Package]:
    """All distributions of this environment, those that others need included."""
    found = {(canonicalize_name(each.name), each.version) for each in metadata.distributions()}
    return [Package(PYPI, name, version) for name, version in sorted(found)]


def front_end_packages(root: Path) -> list[Package]:
    """Those of package-lock.json, development's included."""
    locked = json.loads((root / "package-lock.json").read_text())["packages"]
    return [Package(NPM, place.rpartition("node_modules/")[2], row["version"])
            for place, row in sorted(locked.items()) if place]


def compare(packages: Iterable[Package], folder: Path) -> tuple[list[Vulnerability], int]:
    """The advisories in the folder that apply, and how many advisories there are.

    Raises WrongState where a file is no advisory, or there is none.
    """
    by_name = defaultdict(list)
    for package in packages:
        by_name[package.ecosystem, package.name].append(package)
    found, count = [], 0
    for path in sorted(folder.rglob("*.json")):
        advisory, count = _advisory(path), count + 1
        if "withdrawn" not in advisory:
            found += _applying(advisory, by_name)
    if not count:
        raise WrongState(_("%(folder)s holds no advisory (*.json of the OSV schema).") % {
            "folder": folder})
    return found, count


def _advisory(path: Path) -> dict:
    try:
        advisory = json.loads(path.read_bytes())
        advisory["id"], advisory["affected"]
    except (ValueError, TypeError, KeyError) as error:
        raise WrongState(_("%(path)s is no advisory of the OSV schema: %(cause)s") % {
            "path": path, "cause": repr(error)}) from error
    return advisory


def _applying(advisory: dict, by_name: dict) -> Iterator[Vulnerability]:
    names = "/".join([advisory["id"], *advisory.get("aliases", [])])
    for affected in advisory["affected"]:
        named = affected.get("package", {})
        name, ecosystem = named.get("name", ""), named.get("ecosystem", "")
        if ecosystem == PYPI:
            name = canonicalize_name(name)
        for package in by_name.get((ecosystem, name), ()):
            if _is_affected(package.version, affected):
                yield Vulnerability(str(package), names, advisory.get("summary", ""))


def _is_affected(version: str, affected: dict) -> bool:
    """Whether the version is listed or lies in a range; one that cannot be ordered counts."""
    if version in affected.get("versions", []):
        return True
    ranges = [row["events"] for row in affected.get("ranges", []) if row["type"] != "GIT"]
    try:
        return any(_is_within(Version(version), events) for events in ranges)
    except InvalidVersion:
        return bool(ranges)


def _is_within(version: Version, events: list[dict]) -> bool:
    """Whether the newest event up to the version is that the fault was introduced."""
    within = False
    for event in sorted(events, key=_place):
        [(what, at)] = event.items()
        if what == "introduced" and (at == FIRST or version >= Version(at)):
            within = True
        elif (what == "fixed" and version >= Version(at)) or (
                what == "last_affected" and version > Version(at)):
            within = False
    return within


def _place(event: dict) -> tuple[Version, bool]:
    [(what, at)] = event.items()
    return Version(at), what == "last_affected"


def ask_databases(root: Path) -> tuple[list[Vulnerability], list[str]]:
    """What the package indexes' databases know, and which could not be asked, with the cause."""
    found, unasked = [], []
    for ask in (_ask_pip_audit, _ask_npm):
        try:
            found += ask(root)
        except WrongState as error:
            unasked.append(str(error.message))
    return found, unasked


def _ask_pip_audit(root: Path) -> list[Vulnerability]:
    told, said = _run([sys.executable, "-m", "pip_audit", "-f", "json", "--progress-spinner",
                       "off"], root)
    rows = told.get("dependencies")
    if rows is None:
        raise WrongState(_("pip-audit could not ask (%(cause)s): no Python package was checked") % {
            "cause": said})
    left_out = [row for row in rows if "skip_reason" in row]
    if left_out:
        raise WrongState(_("pip-audit could not look up %(n)d of %(all)d Python packages; "
                           "%(name)s: %(cause)s") % {
            "n": len(left_out), "all": len(rows), "name": left_out[0]["name"],
            "cause": left_out[0]["skip_reason"]})
    return [Vulnerability(f"{row['name']} {row['version']} ({PYPI})", "/".join(
        [fault["id"], *fault.get("aliases", [])]), fault.get("description", "").split("\n")[0])
        for row in rows for fault in row["vulns"]]


def _ask_npm(root: Path) -> list[Vulnerability]:
    told, said = _run(["npm", "audit", "--json"], root)
    rows = told.get("vulnerabilities")
    if rows is None:
        cause = told.get("message") or said
        raise WrongState(_("npm audit could not ask (%(cause)s): no front-end package was checked")
                         % {"cause": cause})
    return [Vulnerability(f"{name} {row['range']} ({NPM})", str(row["severity"]), "; ".join(
        via["title"] for via in row["via"] if isinstance(via, dict)))
        for name, row in rows.items()]


def _run(command: list[str], root: Path) -> tuple[dict, str]:
    """The JSON that a command prints, {} without, and the last line of what it said."""
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False,
                              timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, str(error)
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return {}, lines[-1] if lines else f"exit status {done.returncode}"
