# Prepares jobs' folders and starts each job at most once ever. One line per job tells how it went.
# Shell built-ins do nearly all of it: the nodes' processors belong to the jobs.
umask 077
say() { echo "desk start $directory $*"; }
refusal() { # $refused: why nothing new can start on this node, in one word
    command -v setsid >/dev/null 2>&1 || { refused=no_setsid; return; }
    [ -d "$scratch" ] || mkdir -p "$scratch" 2>/dev/null
    [ -d "$scratch" ] && [ -w "$scratch" ] || { refused=not_writable; return; }
    # shellcheck disable=SC2046
    set -- $(LC_ALL=C exec df -Pk "$scratch" 2>/dev/null)
    [ "${11:-0}" -ge 20480 ] 2>/dev/null || { refused=no_space; return; }
    [ -f "$wrapper" ] || install_wrapper
}
install_wrapper() { # the same for all jobs; the hard link also tells whether links work here
    { printf '%s\n' "$wrapper_text" > "$wrapper.$$"; } 2>/dev/null || { refused=no_space; return; }
    ln "$wrapper.$$" "$wrapper" 2>/dev/null || [ -f "$wrapper" ] || refused=no_links
    rm -f "$wrapper.$$"
}
find_groups() { # $groups: where this login may make control groups
    for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
        [ ! -w "$root/cgroup.procs" ] || { groups="$root/desk-jobs"; return; }
    done
}
prepare() { # directories: the folders of those that have not started yet
    find_groups
    for directory; do
        shift
        [ -f "$scratch/$directory/pid" ] \
            || set -- "$@" "$scratch/$directory/work" ${groups:+"$groups/$directory"}
    done
    [ $# -gt 0 ] || return
    refusal
    [ -n "$refused" ] || mkdir -p "$@" 2>/dev/null
}
launch() { # directory, text of its command; the wrapper holds descriptor 3 until `pid` is there
    directory=$1 job="$scratch/$1"
    [ ! -f "$job/pid" ] || return
    [ -n "$refused" ] && { say refused "$refused"; return; }
    [ -d "$job/work" ] && [ -w "$job" ] || { say refused not_writable; return; }
    { printf '%s' "$2" > "$job/command.$$"; } 2>/dev/null || { say refused no_space; return; }
    DESK_JOB=$1 setsid sh "$wrapper" "$job" "command.$$" ${groups:+"$groups/$1"} 3>&1 < /dev/null > /dev/null 2>&1 &
}
tell() { # directory: the process that runs it; a refusal is in $told
    directory=$1 job="$scratch/$1"
    case "$told" in *"desk start $1 refused "*) return ;; esac
    if [ -s "$job/pid" ]; then read -r started < "$job/pid"; say started "$started"; else say slow; fi
}
wait_for_short_ones() { # directories: what ends at once is told of in the same visit
    for directory; do
        [ -s "$scratch/$directory/pid" ] && [ ! -f "$scratch/$directory/exit" ] || continue
        sleep 0.2 2>/dev/null
        return
    done
}
refused= launched= groups= tries=0
