"""What the server of reading processes has loaded: the readers, the source scan, no database."""

import workers.readers
import workers.scan  # noqa: F401
