# Looks at files of the node below allowed folders; nothing is changed. $path is what is asked for.
find_real() { # roots: $real is the path with all links followed, if it lies in one of them
    real=$(readlink -f -- "$path" 2>/dev/null)
    [ -n "$real" ] && [ -e "$real" ] || { echo "desk refused missing"; exit 0; }
    for root; do
        root=$(readlink -f -- "$root" 2>/dev/null) || continue
        [ "$root" = / ] && return
        case "$real/" in "$root"/*) return ;; esac
    done
    echo "desk refused outside"; exit 0
}
# `mode-size-mtime-inode name` of each, ended by NUL, and NUL at the end of all; mode in hexadecimal.
# One `stat` for many files; if one of them vanished meanwhile, one for each, or the facts of those
# after it would stand beside other names.
facts_of() { # as arguments of find, in the present folder
    find . "$@" -exec sh -c '
        if facts=$(stat -c "%f-%s-%Y-%i" -- "$@" 2>/dev/null); then
            for fact in $facts; do printf "%s %s\0" "$fact" "$1"; shift; done
        else
            for name; do
                fact=$(stat -c "%f-%s-%Y-%i" -- "$name" 2>/dev/null) &&
                    printf "%s %s\0" "$fact" "$name"
            done
        fi' sh {} + 2>/dev/null
    printf '\0'
}
enter() { # the folder; of a file the one that holds it, and $only is its name
    only=
    [ -d "$real" ] || { only=${real##*/}; real=${real%/*}; }
    cd "${real:-/}" 2>/dev/null && ls . >/dev/null 2>&1 || { echo "desk refused unreadable"; exit 0; }
    folder=$PWD
}
entries() { # of the folder itself
    enter
    printf 'desk entries %s\n' "$folder"
    facts_of -maxdepth 1 ! -name .
}
tree() { # of all plain files below; links are counted, not followed
    enter
    if [ -n "$only" ]; then
        printf 'desk tree 0\n%s ./%s\0\0' "$(stat -c "%f-%s-%Y-%i" -- "./$only")" "$only"
    else
        printf 'desk tree %s\n' "$(($(find . -type l 2>/dev/null | wc -l)))"
        facts_of -type f
    fi
}
mounts() { # what is mounted where, and which boot of which machine this is
    read -r boot < /proc/sys/kernel/random/boot_id 2>/dev/null
    printf 'desk real %s\ndesk boot %s\ndesk mounts\n' "$real" "$boot"
    cat /proc/self/mountinfo
    printf '\ndesk end\n'
}
