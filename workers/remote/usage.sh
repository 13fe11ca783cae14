# Megabytes used below the scratch folder, and free where it lies.
# shellcheck disable=SC2046
set -- $(du -sk "$scratch" 2>/dev/null) 0
used=$1
set -- $(df -Pk "$scratch" 2>/dev/null | tail -n 1)
echo "desk usage $((used / 1024)) $((${4:-0} / 1024))"
