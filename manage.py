#!/usr/bin/env python3
"""Django's command line for Delivery Desk."""

import os
import sys

# They write into the code, which is for whoever runs it, and nothing of customers.
WRITE_CODE = {"assets", "compilemessages", "makemessages", "makemigrations", "regenerate"}


def main() -> None:
    umask = os.umask(0o077)  # what is written holds customers' data
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        settings.INSTALLED_APPS  # noqa: B018 – reads the settings
    except ImproperlyConfigured as error:
        sys.exit(f"The settings cannot be used. {error}")
    if WRITE_CODE & set(sys.argv[1:2]):
        os.umask(umask)  # the settings bring delivery.celery, which sets it, too
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
