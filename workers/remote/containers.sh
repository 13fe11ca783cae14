# What of a job runs in a container; after `remote/survivors.sh`, whose hooks it fills. The file
# `container` in the job's folder says which engine, which container and which folder inside.
has_container() {
    [ -f "$job/container" ] || return 1
    # shellcheck disable=SC1091
    . "$job/container"
}
container_state() { # $is_running: yes, no, or unknown where the engine does not answer
    is_running=unknown
    state=$(engine container inspect --format 'desk {{.State.Running}} {{.State.Pid}}' \
        "$container" 2>&1 < /dev/null)
    case "$state" in
    *"desk true "*)
        is_running=yes
        # An engine whose own watcher was killed goes on to call it running.
        [ -d "/proc/${state##*desk true }" ] || engine exec "$container" true > /dev/null 2>&1 \
            < /dev/null || is_running=no ;;
    *"desk false "* | *[Nn]"o such "*) is_running=no ;;
    esac
}
look_inside() { # lines to end with: what the container itself shows of the job
    printf '%s\n' "scratch='$inside' directory=box known=" "$inside_text" \
        "directory='${job##*/}'" "$1" | engine exec -i -e DESK_JOB= "$container" sh -s 2>/dev/null
}
leave_out() { # of $found: those in the container, which is looked at from inside
    has_container || return
    here=$(readlink /proc/self/ns/pid) kept=" "
    for process in $found; do
        there=$(readlink "/proc/$process/ns/pid" 2>/dev/null)
        [ -n "$there" ] && [ "$there" != "$here" ] || kept="$kept$process "
    done
    found=$kept
}
beats() { # a cluster's compute node runs it: what is inside says so itself, on shared storage
    [ ! -f "$job/box/exit" ] && [ -n "$(find "$job/box/beat" -mmin -1 2>/dev/null)" ]
}
signal_elsewhere() {
    has_container || return
    if [ -f "$job/slurm" ]; then
        echo "$signal" > "$job/box/stop.$$" && mv "$job/box/stop.$$" "$job/box/stop"
        return
    fi
    container_state
    [ "$is_running" = yes ] || return
    look_inside "signal=$signal
$cancel_text" | grep '^desk ended '
    # One of ours ends as a whole; in another's only what the job started.
    [ "$signal" != KILL ] || [ "$place" != container ] \
        || engine kill --signal KILL "$container" > /dev/null 2>&1 < /dev/null
}
tell_elsewhere() { # adds to $left
    has_container || return
    if [ -f "$job/slurm" ]; then
        ! beats || { echo "desk process 0 container:$container"; left=$((left + 1)); }
        return
    fi
    container_state
    [ "$is_running" != no ] || return
    answer=
    [ "$is_running" = unknown ] || answer=$(look_inside "members
tell_survivors")
    more=${answer##*desk left }
    case "$more" in
    '' | *[!0-9]*) left=unknown ;;
    *) echo "$answer" | grep '^desk process '; [ "$left" = unknown ] || left=$((left + more)) ;;
    esac
}
close_container() { # $ended: the engine's word on how a container ended that runs no more; it is
    # then removed. False where there is none.
    ended=
    answer=$(engine container inspect --format \
        'desk {{.State.Running}} {{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.State.FinishedAt}}' \
        "$container" 2>&1 < /dev/null)
    # shellcheck disable=SC2086
    set -- ${answer##*desk }
    [ $# -ge 4 ] && case "$1" in true | false) ;; *) false ;; esac || return 1
    ended=$3
    case "$2:$ended" in exited:*[0-9] | stopped:*[0-9] | dead:*[0-9]) ;;
    *) # never begun, or not seen to end
        ended=137
        read -r ended 2>/dev/null < "$job/box/exit" ;;
    esac
    printf '%s\n' "exit_code $3" "oom_killed $4" >> "$job/facts"
    shift 4
    echo "finished_at $*" >> "$job/facts"
    echo "$ended" > "$job/ended.$$" && mv "$job/ended.$$" "$job/ended"
    engine rm -f "$container" > /dev/null 2>&1 < /dev/null
    rm -f "$job/container"
}
in_container() { # for `remote/poll.sh`, of a job whose wrapper is gone: $process and $status
    has_container || return
    [ ! -f "$job/slurm" ] || { ! beats || process=orphans; return; }
    container_state
    case "$is_running" in
    unknown) process=orphans ;;
    yes)
        answer=$(look_inside "members
tell_survivors")
        [ "${answer##*desk left }" = 0 ] || process=orphans
        [ "$process" = gone ] || [ -f "$job/box/exit" ] || process=alive ;;
    no) [ "$place" != container ] || [ "$leader" = 0 ] || close_container ;;
    esac
}
tell_end() { # what a command left that had no wrapper any more, and what is known of the container
    [ "$status" != none ] || read -r status 2>/dev/null < "$job/ended"
    [ "$status" != none ] || read -r status 2>/dev/null < "$job/box/exit"
    [ -f "$job/facts" ] || return
    facts=$(head -c 6000 "$job/facts" | sed 's/%/%25/g; s/ /%20/g' | tr '\n' '&')
}
