# Megabytes used below the scratch folder and free where it lies, then kilobytes of each job's folder.
find "$scratch/" -mindepth 1 -maxdepth 1 -exec du -sk {} + 2>/dev/null | {
    used=0 folders=
    while read -r size path; do
        used=$((used + size)) name=${path##*/}
        case "$name" in desk-job-*) folders="$folders
desk folder $name $size" ;; esac
    done
    # shellcheck disable=SC2046
    set -- $(LC_ALL=C df -Pk "$scratch" 2>/dev/null | tail -n 1)
    echo "desk usage $((used / 1024)) $((${4:-0} / 1024))$folders"
}
