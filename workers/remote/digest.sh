# SHA-256 with whatever this node has; `none` where it has nothing.
cd "${folder:-$job/work}" 2>/dev/null || exit 0
if command -v sha256sum >/dev/null 2>&1; then tool=sha256sum
elif command -v busybox >/dev/null 2>&1; then tool="busybox sha256sum"
elif command -v shasum >/dev/null 2>&1; then tool="shasum -a 256"
else tool=; fi
digest() { # one file, whatever its name
    if [ -n "$tool" ]; then set -- $($tool < "$1"); else set -- none; fi
    echo "desk sha256 ${1:-none}"
}
digests() { # many files whose names fit on a line
    [ -z "$tool" ] || $tool -- "$@" 2>/dev/null
}
