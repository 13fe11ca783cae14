"""Programs outside Python that the product and its tests start, by the Debian package of each.

A test that starts another one fails (`conftest.py`), and `test_programs.py` compares the packages
with those that `./desk` and `.ci/run` install.
"""

import functools
import os
import shutil
import subprocess
from pathlib import Path

# In every Debian, or asked by Python itself (`ctypes.util.find_library`).
ALWAYS = {"bash", "chmod", "chroot", "dash", "date", "gcc", "ld", "ldconfig", "mount", "nsenter",
          "runuser", "setsid", "sh", "setpriv", "sha256sum", "sleep", "stat", "tar", "true",
          "umount", "uname", "unshare"}
# `./desk` installs them for every command: the product needs them.
PRODUCT = {"fontconfig": {"fc-match"},
           "gettext": {"msgattrib", "msgcat", "msgfmt", "msginit", "msgmerge", "msguniq",
                       "xgettext"}}
# `./desk test` installs them besides: tests of the default run cannot do without.
TESTS = {"openssh-client": {"ssh", "ssh-add", "ssh-agent", "ssh-keygen"},
         "poppler-utils": {"pdfsig", "pdftoppm", "pdftotext"}}
# `.ci/run` installs them: slow and browser tests need them, or tests skip where they are missing.
CI = {"chromium": {"chromium"}, "default-jre-headless": {"java"}, "git": {"git"},
      "iproute2": {"ip"}, "libreoffice-calc": {"soffice"}, "openssh-server": {"sshd"},
      "openssl": {"openssl"}, "procps": {"pgrep", "pkill", "ps"}, "redis-server": {"redis-server"},
      "softhsm2": {"softhsm2-util"}}
# Tests skip where they are missing, and nothing installs them: servers and engines of other firms.
WHERE_THERE = {"apptainer", "busybox", "caddy", "debootstrap", "mcp-inspector", "munged", "patch",
               "podman", "promtool", "runc", "sbatch", "scancel", "sinfo", "slapd", "slurmctld",
               "slurmd", "squeue", "systemd-analyze", "systemd-nspawn"}

FOLDERS = {"/bin", "/sbin", "/usr/bin", "/usr/sbin"}
DECLARED = ALWAYS.union(WHERE_THERE, *PRODUCT.values(), *TESTS.values(), *CI.values())
undeclared: set[str] = set()
_start = subprocess.Popen.__init__


@functools.wraps(_start)
def _noted(self, args, *more, **options) -> None:
    program = "sh" if options.get("shell") else options.get("executable") or (
        args if isinstance(args, str | bytes | os.PathLike) else args[0])
    found = Path(shutil.which(os.fsdecode(program)) or "")
    if str(found.parent) in FOLDERS and found.name not in DECLARED:
        undeclared.add(found.name)
    _start(self, args, *more, **options)


# An audit hook would be asked at every file, import and frame: a hundredth of the whole run.
subprocess.Popen.__init__ = _noted
