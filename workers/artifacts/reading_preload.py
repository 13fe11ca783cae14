"""What the server of reading processes has loaded: the readers, the source scan, no database."""

import toolreaders
import toolreaders.scan  # noqa: F401
