"""Every icon that a template names is brought along; a name that is missing is drawn as nothing."""

import re

from django.conf import settings

from delivery.portal.management.commands.assets import ICONS

NAMED = re.compile(r"""\{% icon "([a-z0-9-]+)"|icon_name="([a-z0-9-]+)\"""")


def test_every_icon_of_the_templates_is_installed():
    used = {found[1] or found[2] for path in (settings.BASE_DIR / "templates").rglob("*.html")
            for found in NAMED.finditer(path.read_text())}
    assert len(used) > 20
    assert used - set(ICONS) == set()
