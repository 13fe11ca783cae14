"""Creates the bucket of the artifact store, where files lie in S3-compatible storage."""

import time
from http import HTTPStatus

from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError, HTTPClientError
from django.core.files.storage import default_storage
from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from engagements.management.translated import TranslatedCommand

STARTING = (EndpointConnectionError, HTTPClientError)
PAUSE = 2  # seconds between two attempts


class Command(TranslatedCommand):
    help = "Create the bucket DESK_ARTIFACT_BUCKET with object lock, where it is missing."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--wait", type=int, default=0, metavar="SECONDS",
                            help="how long a store that does not answer may take to start")

    def handle(self, *args, **options):
        if not hasattr(default_storage, "create_bucket"):
            raise CommandError(_(
                "DESK_ARTIFACT_BUCKET is not set: files lie in a local folder."))
        name = default_storage.bucket_name
        try:
            created = created_within(options["wait"])
        except (BotoCoreError, ClientError) as error:
            raise CommandError(_("Bucket %(name)s: %(cause)s") % {
                "name": name, "cause": error}) from error
        self.stdout.write((_("Bucket %(name)s created with object lock.") if created
                           else _("Bucket %(name)s is there.")) % {"name": name})


def created_within(seconds: int) -> bool:
    """Whether the bucket was missing; asks again for that long while the store is not ready.

    Raises ClientError where the store refuses, what STARTING holds
    where it has not answered in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return default_storage.create_bucket()
        except (*STARTING, ClientError) as error:
            if time.monotonic() >= deadline or not _is_starting(error):
                raise
            time.sleep(PAUSE)


def _is_starting(error: Exception) -> bool:
    """Nothing answers yet, or the store says that it is not ready."""
    return (not isinstance(error, ClientError)
            or error.response["ResponseMetadata"]["HTTPStatusCode"]
            == HTTPStatus.SERVICE_UNAVAILABLE)
