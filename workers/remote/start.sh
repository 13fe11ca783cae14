# Prepares jobs' folders and starts each job at most once ever. One line per job tells how it went.
umask 077
say() { echo "desk start $directory $*"; }
refusal() { # why nothing new can start on this node, in one word
    command -v setsid >/dev/null 2>&1 || { echo no_setsid; return; }
    mkdir -p "$scratch" 2>/dev/null && [ -w "$scratch" ] || { echo not_writable; return; }
    # shellcheck disable=SC2046
    set -- $(df -Pk "$scratch" 2>/dev/null | tail -n 1)
    [ "${4:-0}" -ge 20480 ] 2>/dev/null || { echo no_space; return; }
    : > "$scratch/probe.$$" && ln "$scratch/probe.$$" "$scratch/link.$$" 2>/dev/null || echo no_links
    rm -f "$scratch/probe.$$" "$scratch/link.$$"
}
launch() { # directory; the text of its command on standard input
    directory=$1 job="$scratch/$1"
    [ -f "$job/pid" ] && return
    [ "$refused" = not_asked ] && refused=$(refusal)
    [ -n "$refused" ] && { say refused "$refused"; return; }
    mkdir -p "$job/work" 2>/dev/null || { say refused not_writable; return; }
    { cat > "$job/command.$$" && printf '%s\n' "$wrapper" > "$job/wrapper.$$"; } 2>/dev/null &&
        mv "$job/command.$$" "$job/command.sh" && mv "$job/wrapper.$$" "$job/wrapper.sh" ||
        { say refused no_space; return; }
    setsid sh "$job/wrapper.sh" "$job" < /dev/null > /dev/null 2>&1 &
}
tell() { # directory: the process that runs it; all jobs together are waited for five seconds
    directory=$1 job="$scratch/$1"
    [ -f "$job/pid" ] || [ "$refused" = not_asked ] || [ -z "$refused" ] || return
    while [ ! -s "$job/pid" ] && [ $tries -lt 60 ]; do
        tries=$((tries + 1)); pause=0.1; [ $tries -lt 15 ] && pause=0.01
        sleep $pause 2>/dev/null || sleep 1
    done
    if [ -s "$job/pid" ]; then read -r started < "$job/pid"; say started "$started"; else say slow; fi
}
refused=not_asked tries=0
