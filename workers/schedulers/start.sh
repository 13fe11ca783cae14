# Submits jobs to Slurm; after `remote/start.sh`, whose find_groups, launch and tell it replaces.
find_groups() { :; } # the job runs elsewhere
install() { # file, text
    [ -f "$1" ] && return
    { printf '%s\n' "$2" > "$1.$$"; } 2>/dev/null && mv "$1.$$" "$1" 2>/dev/null || refused=no_space
}
launch() { # directory, text of its command, words for sbatch
    directory=$1 job="$scratch/$1" text=$2
    shift 2
    if [ -s "$job/pid" ] || [ -s "$job/submitted" ]; then launched="$launched $directory"; return; fi
    [ -n "$refused" ] || { install "$batch" "$batch_text"; install "$submit" "$submit_text"; }
    [ -n "$refused" ] && { say refused "$refused"; return; }
    [ -d "$job/work" ] && [ -w "$job" ] || { say refused not_writable; return; }
    { printf '%s' "$text" > "$job/command.$$"; } 2>/dev/null || { say refused no_space; return; }
    # shellcheck disable=SC2154
    setsid sh "$submit" "$job" "command.$$" "$wrapper" "$batch" "$@" < /dev/null > /dev/null 2>&1 &
    launched="$launched $directory"
}
newest_failure() { # $failure: of the newest claim, if it came to nothing
    turn=1 failure=
    while [ -f "$job/claim.$((turn + 1))" ]; do turn=$((turn + 1)); done
    read -r failure 2>/dev/null < "$job/failed.$turn"
}
tell() { # directory: what became of it; all jobs together are waited for some seconds
    directory=$1 job="$scratch/$1" failure=
    while [ ! -s "$job/submitted" ] && [ ! -s "$job/pid" ] && [ $tries -lt 90 ]; do
        tries=$((tries + 1))
        sleep 0.1 2>/dev/null || sleep 1
        newest_failure
        [ -z "$failure" ] || break
    done
    id=
    read -r id 2>/dev/null < "$job/submitted"
    if [ -n "$id" ] || [ -s "$job/pid" ]; then say submitted "$id"
    elif [ -n "$failure" ]; then say scheduler "$failure"
    else say slow; fi
}
