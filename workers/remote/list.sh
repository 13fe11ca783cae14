# `size directory/work/name` of every plain file of jobs' work folders, each ended by NUL, and NUL
# at the end of all; links are not followed. One `stat` measures many files; where there is none,
# `wc` does. A folder that this user cannot look into is named with `closed` for its size, what is no
# plain file with what it is, and so is a file of several names: the others may lie outside.
is_empty() { # the work folder of $directory; one that cannot be looked into is not
    [ -r "$directory/work" ] && [ -x "$directory/work" ] || return
    for entry in "$directory/work"/*; do [ ! -e "$entry" ] && [ ! -L "$entry" ] || return; done
    for entry in "$directory/work"/.[!.]* "$directory/work"/..?*; do
        [ ! -e "$entry" ] && [ ! -L "$entry" ] || return
    done
}
files() { # directories
    cd "$scratch" 2>/dev/null || cd /
    for directory; do
        shift
        if [ -d "$directory/work" ]; then
            echo "desk files $directory"
            is_empty || set -- "$@" "$directory/work"
        else echo "desk absent $directory"; fi
    done
    echo "desk entries"
    [ $# -eq 0 ] || find "$@" -type d -exec sh -c '
        for d; do [ -r "$d" ] && [ -x "$d" ] || printf "closed %s/\0" "$d"; done' sh {} + \
        -o -type f -exec sh -c '
        if sizes=$(stat -c %h:%s -- "$@" 2>/dev/null); then
            for size in $sizes; do
                case "$size" in [01]:*) size=${size#?:} ;; *) size=hardlink ;; esac
                printf "%s %s\0" "$size" "$1"; shift
            done
        else
            for f; do
                facts=$(ls -dn -- "$f") size=hardlink; facts=${facts#* }
                case "${facts#"${facts%%[! ]*}"}" in 1\ *) size=$(($(wc -c < "$f"))) ;; esac
                printf "%s %s\0" "$size" "$f"
            done
        fi' sh {} + \
        -o ! -type d -exec sh -c '
        for f; do
            what=socket
            if [ -L "$f" ]; then what=link; elif [ -p "$f" ]; then what=pipe
            elif [ -b "$f" ] || [ -c "$f" ]; then what=device; fi
            printf "%s %s\0" "$what" "$f"
        done' sh {} +
    printf '\0'
}
