"""`python -m pip install …` and `python -m pip list` in pip's own words.

What was “installed” is remembered in ~/.practice/pip.json.
"""

import json
import os
import re
import sys

PLACE = os.path.join(os.environ["HOME"], ".practice", "pip.json")
WITH_VALUE = ("--index-url", "--find-links")
NEWEST = "1.0.0"
SURPLUS = re.compile(r"[-_.]+")


def known():
    try:
        with open(PLACE) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return {"pip": "23.2.1", "setuptools": "65.5.0"}


def asked(words):
    """(name, version) of every requirement; options are left out."""
    rest = iter(words)
    for word in rest:
        if word in WITH_VALUE:
            next(rest)
        elif not word.startswith("-"):
            parts = re.split(r"[=>]=", word)
            if word.endswith(".whl"):
                parts = os.path.basename(word).split("-")[:2]
            yield SURPLUS.sub("-", parts[0]).lower(), parts[1] if len(parts) > 1 else NEWEST


def install(words):
    packages = known()
    if "--no-index" in words and not os.path.isdir(words[words.index("--find-links") + 1]):
        name, version = next(asked(words))
        print(f"ERROR: Could not find a version that satisfies the requirement {name}=={version} "
              f"(from versions: none)\nERROR: No matching distribution found for {name}=={version}",
              file=sys.stderr)
        return 1
    for name, version in asked(words):
        print(f"Collecting {name}=={version}")
        packages[name] = version
    with open(PLACE, "w") as stream:
        json.dump(packages, stream)
    print("Successfully installed "
          + " ".join(f"{name}-{version}" for name, version in asked(words)))
    return 0


def show(_words):
    packages = known()
    width = max(map(len, packages))
    print(f"{'Package':{width}} Version\n{'-' * width} -------")
    for name, version in sorted(packages.items()):
        print(f"{name:{width}} {version}")
    return 0


sys.exit({"install": install, "list": show}[sys.argv[1]](sys.argv[2:]))
