"""Practice stand-in for msopgen gen: a project whose build packs its sources into a .run file."""

import argparse
import json
import os
import sys

BUILD = r"""#!/bin/bash
cd "$(dirname "$0")" || exit 1
ls op_host/*.cpp op_kernel/*.cpp > /dev/null || exit 1
mkdir -p build_out && package=build_out/custom_opp_linux_$(uname -m).run
cat > "$package" <<'HEAD'
#!/bin/bash
case $1 in --install-path=*) to=${1#*=} ;; *) to=. ;; esac
mkdir -p "$to/vendors/customize" && sed '1,/^DATA$/d' "$0" | tar -xzf - -C "$to/vendors/customize"
exit $?
DATA
HEAD
tar -czf - op_host op_kernel >> "$package" && chmod +x "$package"
echo "Self-extractable archive \"$package\" successfully created."
"""


def main():
    parser = argparse.ArgumentParser(prog="msopgen")
    parser.add_argument("command", choices=["gen"])
    for short, name in (("-i", "input"), ("-f", "framework"), ("-c", "compute_unit"),
                        ("-lan", "language"), ("-out", "output")):
        parser.add_argument(short, f"--{name}", required=name != "output", default="./")
    args = parser.parse_args()
    with open(args.input) as stream:
        operators = [entry["op"] for entry in json.load(stream)]
    for folder in ("op_host", "op_kernel"):
        os.makedirs(os.path.join(args.output, folder))
    for name, text in (("build.sh", BUILD), ("CMakePresets.json", json.dumps(
            {"ASCEND_CANN_PACKAGE_PATH": "/usr/local/Ascend/latest"}))):
        with open(os.path.join(args.output, name), "w") as stream:
            stream.write(text)
    print(f"[INFO] Generation completed: {', '.join(operators)}", flush=True)
    return 0


sys.exit(main())
