# `size name` of every plain file of a job's work folder, each ended by NUL, and NUL at the end of
# all; links are not followed. One `stat` measures many files; where there is none, `wc` does.
files() { # directory
    ( cd "$scratch/$1/work" 2>/dev/null || { echo "desk absent $1"; exit 0; }
    echo "desk files $1"
    find . -type f -exec sh -c '
        if sizes=$(stat -c %s -- "$@" 2>/dev/null); then
            for size in $sizes; do printf "%s %s\0" "$size" "$1"; shift; done
        else
            for f; do printf "%s %s\0" "$(($(wc -c < "$f")))" "$f"; done
        fi' sh {} +
    printf '\0' )
}
