"""The embedded broker: kombu's file-system transport (5.x), with messages that are whole.

kombu opens a message file before it writes it, and a worker that reads it in between, or after a
crash, dies of an empty message. Here a message appears by renaming, and a damaged one is skipped.
"""

import os
import uuid
from pathlib import Path
from time import monotonic

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: dict, **kwargs) -> None:
        folder = Path(self.data_folder_out)
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}"
        part = folder / f"{name}.part"
        try:
            part.write_text(dumps(payload))
            os.replace(part, folder / f"{name}.msg")
        except OSError as error:
            raise ChannelError(f"Cannot add a message to {folder}: {error}") from error

    def _get(self, queue: str) -> dict:
        while True:
            try:
                return super()._get(queue)
            except ValueError:  # not JSON: cut short by a crash or a full disk; already moved away
                continue


class Transport(filesystem.Transport):
    Channel = Channel
