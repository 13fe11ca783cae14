# Prepares jobs' folders and starts each job at most once ever. One line per job tells how it went.
# Shell built-ins do nearly all of it: the nodes' processors belong to the jobs.
umask 077
say() { echo "desk start $directory $*"; }
refusal() { # $refused: why nothing new can start on this node, in one word
    command -v setsid >/dev/null 2>&1 || { refused=no_setsid; return; }
    [ -d "$scratch" ] || mkdir -p "$scratch" 2>/dev/null
    [ -d "$scratch" ] && [ -w "$scratch" ] || { refused=not_writable; return; }
    # shellcheck disable=SC2046
    set -- $(LC_ALL=C df -Pk "$scratch" 2>/dev/null)
    [ "${11:-0}" -ge 20480 ] 2>/dev/null || { refused=no_space; return; }
    [ -f "$wrapper" ] || install_wrapper
}
install_wrapper() { # the same for all jobs; the hard link also tells whether links work here
    { printf '%s\n' "$wrapper_text" > "$wrapper.$$"; } 2>/dev/null || { refused=no_space; return; }
    ln "$wrapper.$$" "$wrapper" 2>/dev/null || [ -f "$wrapper" ] || refused=no_links
    rm -f "$wrapper.$$"
}
prepare() { # directories: the folders of those that have not started yet
    for directory; do
        shift
        [ -f "$scratch/$directory/pid" ] || set -- "$@" "$scratch/$directory/work"
    done
    [ $# -gt 0 ] || return
    refusal
    [ -n "$refused" ] || mkdir -p "$@" 2>/dev/null
}
launch() { # directory, text of its command
    directory=$1 job="$scratch/$1"
    [ -f "$job/pid" ] && { launched="$launched $1"; return; }
    [ -n "$refused" ] && { say refused "$refused"; return; }
    [ -d "$job/work" ] && [ -w "$job" ] || { say refused not_writable; return; }
    { printf '%s' "$2" > "$job/command.$$"; } 2>/dev/null || { say refused no_space; return; }
    DESK_JOB=$1 setsid sh "$wrapper" "$job" "command.$$" < /dev/null > /dev/null 2>&1 &
    launched="$launched $1"
}
tell() { # directory: the process that runs it; all jobs together are waited for five seconds
    directory=$1 job="$scratch/$1"
    while [ ! -s "$job/pid" ] && [ $tries -lt 60 ]; do
        tries=$((tries + 1)); pause=0.1; [ $tries -lt 15 ] && pause=0.01
        sleep $pause 2>/dev/null || sleep 1
    done
    if [ -s "$job/pid" ]; then read -r started < "$job/pid"; say started "$started"; else say slow; fi
}
wait_for_short_ones() { # a quarter of a second: what ends at once is told of in the same visit
    for directory in $launched; do
        while [ -s "$scratch/$directory/pid" ] && [ ! -f "$scratch/$directory/exit" ]; do
            [ $naps -lt 10 ] || return 0
            naps=$((naps + 1)); sleep 0.025 2>/dev/null || return 0
        done
    done
}
refused= launched= tries=0 naps=0
