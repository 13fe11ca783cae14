"""Files in S3-compatible storage: SHA-256 with each part, locks on what was issued.

Large files go up in parts of eight megabytes, several at once; the store compares the SHA-256 of
each part (or of the whole) with what arrived. Where OBJECT_LOCK_DAYS is set, the bucket has to have
object lock, and nobody changes or removes a locked version before its day.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError
from django.conf import settings
from django.utils import timezone
from storages.backends.s3 import S3Storage

CHUNK = 2**20
LOCKED_FOLDERS = ("documents/", "bundles/", "signatures/", "powers/", "notices/", "follow-ups/",
                  "audit/")
HOME_REGIONS = (None, "us-east-1", "aws-global")  # where S3 wants no region named
GONE = ("404", "NoSuchKey", "NotFound")


class ObjectStorage(S3Storage):
    """django-storages' S3 storage with the above."""

    def get_object_parameters(self, name: str) -> dict[str, Any]:
        """What an upload says: the checksum to compare, and for what was issued its lock."""
        locked = bool(settings.OBJECT_LOCK_DAYS) and name.startswith(LOCKED_FOLDERS)
        return {"ChecksumAlgorithm": "SHA256", **super().get_object_parameters(name), **({
            "ObjectLockMode": settings.OBJECT_LOCK_MODE,
            "ObjectLockRetainUntilDate": lock_end(timezone.now())} if locked else {})}

    def pieces(self, name: str) -> Iterator[bytes]:
        """The bytes as they arrive. Raises FileNotFoundError."""
        try:
            body = self.bucket.Object(self._normalize_name(name)).get()["Body"]
        except ClientError as error:
            if error.response["Error"]["Code"] in GONE:
                raise FileNotFoundError(name) from error
            raise
        yield from body.iter_chunks(CHUNK)

    def remove_folder(self, folder: str) -> None:
        """Remove all below a folder with every version: a bucket with locks keeps older ones."""
        self.bucket.object_versions.filter(Prefix=f"{self._normalize_name(folder)}/").delete()

    def lock(self, name: str, until: datetime) -> None:
        """Keep the newest version of a file from being changed or removed until then.

        Raises FileNotFoundError; a longer lock that is there already stays.
        """
        key = {"Bucket": self.bucket_name, "Key": self._normalize_name(name)}
        client = self.connection.meta.client
        try:
            if (held := self._held_until(client, key)) and held >= until:
                return
            client.put_object_retention(**key, Retention={
                "Mode": settings.OBJECT_LOCK_MODE, "RetainUntilDate": until})
        except ClientError as error:
            if error.response["Error"]["Code"] in GONE:
                raise FileNotFoundError(name) from error
            raise

    def _held_until(self, client, key: dict) -> datetime | None:
        return client.head_object(**key).get("ObjectLockRetainUntilDate")

    def create_bucket(self) -> bool:
        """Create the bucket, able to lock objects, where it is missing; whether it was.

        Raises ClientError where the store refuses.
        """
        client = self.connection.meta.client
        try:
            client.head_bucket(Bucket=self.bucket_name)
        except ClientError as error:
            if error.response["Error"]["Code"] not in (*GONE, "NoSuchBucket"):
                raise
        else:
            return False
        region = client.meta.region_name
        placed = {} if region in HOME_REGIONS else {
            "CreateBucketConfiguration": {"LocationConstraint": region}}
        client.create_bucket(Bucket=self.bucket_name, ObjectLockEnabledForBucket=True, **placed)
        return True

    def fault_of_lock(self) -> str:
        """Why locks would not hold; empty where they do."""
        try:
            found = self.connection.meta.client.get_object_lock_configuration(
                Bucket=self.bucket_name)
        except ClientError as error:
            return error.response["Error"].get("Message") or error.response["Error"]["Code"]
        enabled = found.get("ObjectLockConfiguration", {}).get("ObjectLockEnabled")
        return "" if enabled == "Enabled" else "ObjectLockEnabled: no"


def lock_end(now: datetime) -> datetime:
    """Until when what is issued now stays locked; to the second, as stores keep it."""
    return (now + timedelta(days=settings.OBJECT_LOCK_DAYS)).replace(microsecond=0)
