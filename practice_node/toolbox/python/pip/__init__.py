"""Practice stand-in for pip: it installs nothing and lists what it was asked for."""
