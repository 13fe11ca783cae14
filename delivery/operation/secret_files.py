"""Which files of the data folder are secrets: what `backup --keys` saves and doctor looks at."""

from pathlib import Path

PATTERNS = (
    "secret-key", "audit-key",  # delivery.settings
    "credential-keys",  # restore_keys
    "*-key-until-*",  # rotate_keys: backups made before need the keys of their time
    "signing/*",  # the practice certificate with its password; restore_keys: the firm's key
    "practice-node/keys/*",  # its row knows them
)


def secret_files(folder: Path) -> list[Path]:
    """Those that are there, by name."""
    return sorted(path for pattern in PATTERNS for path in folder.glob(pattern)
                  if path.is_file())
