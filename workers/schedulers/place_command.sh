# Puts a job's command where its cluster finds it; after `remote/start.sh`, whose launch it replaces.
# Whether the job is submitted is told by the cluster's API, under the name of the folder.
install() { # file, text
    [ -f "$1" ] && return
    { printf '%s\n' "$2" > "$1.$$"; } 2>/dev/null && mv "$1.$$" "$1" 2>/dev/null || refused=no_space
}
launch() { # directory, text of its command
    directory=$1 job="$scratch/$1"
    [ ! -s "$job/pid" ] || { say submitted; return; }
    # shellcheck disable=SC2154
    [ -n "$refused" ] || install "$batch" "$batch_text"
    [ -n "$refused" ] && { say refused "$refused"; return; }
    [ -d "$job/work" ] && [ -w "$job" ] || { say refused not_writable; return; }
    { printf '%s' "$2" > "$job/command.$$"; } 2>/dev/null && mv "$job/command.$$" "$job/command.desk" \
        || { say refused no_space; return; }
    say placed
}
