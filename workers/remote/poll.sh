# One line per job, then exactly `log=` bytes of its log; last the files of those that have ended
# and of which they are wanted. What many jobs share is asked for once: processes, sizes, files.
look() { # directory offset limit files known...: what runs of it
    directory=$1 asked="$1 $2 $3 $4"; shift 4; known=$*
    job="$scratch/$directory" process=alive status=none
    alive && [ -f "$job/exit" ] && wait_for_end
    if alive; then read -r status 2>/dev/null < "$job/exit"; else process=gone is_any_gone=yes; fi
    [ "$boot" = "$this_boot" ] || pid=0
    jobs="$jobs$asked $process ${pid:-0} $status$line"
}
wait_for_end() { # the wrapper has written the status and is about to leave
    looks=0
    while alive && [ $looks -lt 110 ]; do # mostly it takes less than a process would
        looks=$((looks + 1))
        [ $looks -le 100 ] || sleep 0.05 2>/dev/null || return
    done
}
measure() { # sizes of the logs, beside their names, and $now, in one process: the folder in /proc
    # of a process that has only just begun is as old as now. Some busybox has no format for stat.
    cd "$scratch" 2>/dev/null || cd /
    sizes=$(exec stat -L -c '%s %n %Y' -- "$@" /proc/self 2>/dev/null < /dev/null)
    now=${sizes##* } words=3
    case "$sizes" in *" /proc/self $now") ;; *)
        now=$(date +%s) words=2 sizes=$(exec wc -c -- "$@" 2>/dev/null < /dev/null) ;;
    esac
}
report() { # its state and the new part of its log
    job="$scratch/$directory" beat=0 present=yes oom=0 facts=
    if [ "$process" = gone ]; then # what it leaves cannot change any more
        [ "$leader" = 0 ] || case "$running" in *" $leader:"*) process=orphans ;; esac
        case "$marks" in *"=$directory "*) process=orphans ;; esac
        case "$owners" in *" $directory "*) process=orphans ;; esac
        if read -r group 2>/dev/null < "$job/group" && [ -d "$group" ]; then
            if is_populated; then process=orphans; else empty="$empty $group"; fi
        fi
        [ "$process" != gone ] || [ ! -f "$job/container" ] || in_container
        read -r status 2>/dev/null < "$job/exit"
        [ ! -d "$job/box" ] || tell_end
        read -r oom 2>/dev/null < "$job/oom"
    fi
    [ "$leader" = 0 ] || [ "$process" = gone ] || beat=$now
    [ -d "$job" ] || present=no
    more=$((size - offset)); [ $more -lt 0 ] && more=0; [ $more -gt "$limit" ] && more=$limit
    echo "desk $directory present=$present status=$status process=$process beat=$beat size=$size log=$more boot=$this_boot now=$now oom=$oom${facts:+ facts=$facts}"
    [ $more -le 0 ] || part
    [ "$wanted" = files ] && [ "$status" != none ] && [ "$process" = gone ] \
        && [ $((offset + more)) -ge "$size" ] && ended="$ended $directory"
}
is_populated() { # whether anything runs in $group; most have no groups below
    read -r _ 2>/dev/null < "$group/cgroup.procs" && return
    for inner in "$group"/*/; do
        [ -d "$inner" ] || return
        [ -n "$(find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null)" ]
        return
    done
}
part() { # $more bytes of the log from $offset on; a dd that cannot count bytes says so at once
    if [ "$offset" = 0 ]; then head -c "$more" "$job/log"; return; fi
    { said=$(exec dd if="$job/log" bs=65536 skip="$offset" count="$more" iflag=skip_bytes,count_bytes \
        2>&1 >&3); } 3>&1
    case "$said" in *[0-9]+[0-9]*) ;; *)
        tail -c "+$((offset + 1))" "$job/log" | head -c "$more" ;;
    esac
}
report_all() {
    running=" " marks=" " owners=" "
    [ -z "$is_any_gone" ] || look_for_marks
    follow_trees
    logs=
    while read -r directory rest; do
        [ -z "$directory" ] || logs="$logs $directory/log"
    done <<END
$jobs
END
    # shellcheck disable=SC2086
    measure $logs
    # shellcheck disable=SC2086
    set -- $sizes
    while read -r directory offset limit wanted process leader status; do
        [ -n "$directory" ] || continue
        size=0
        [ "$2" = "$directory/log" ] && { size=$1; shift $words; }
        report
    done <<END
$jobs
END
    # shellcheck disable=SC2086
    [ -z "$empty" ] || rmdir $empty 2>/dev/null || find $empty -depth -type d -exec rmdir {} + 2>/dev/null
    # shellcheck disable=SC2086
    [ -z "$ended" ] || files $ended
}
follow_trees() { # keeps what each job runs, for later looks: parent, session and mark can be lost
    trees=
    while read -r directory _ _ _ process leader _; do
        job="$scratch/$directory"
        # A control group holds it all; an engine's processes begin below the job and are none of it.
        [ "${leader:-0}" != 0 ] && [ ! -s "$job/group" ] && [ ! -f "$job/container" ] || continue
        # A number whose process is gone is no other's while its session goes on.
        [ "$process" != alive ] && [ -d "/proc/$leader" ] || eval "of_$leader=\$directory"
        recall
        for entry in $seen; do eval "at_${entry%:*}=${entry#*:} by_${entry%:*}=\$directory"; done
        trees=yes
    done <<END
$jobs
END
    [ -z "$trees$is_any_gone" ] || look_around
    is_grown=$trees
    while [ -n "$is_grown" ]; do
        is_grown=
        for entry in $running; do own; done
    done
}
own() { # $entry of $running: whose it is, as its parent, its session or an earlier look tells
    split
    eval "owner=\${of_$process:-} start_seen=\${at_$process:-} next=\${of_$parent:-\${of_$session:-}}"
    [ -z "$owner" ] || return
    if [ "$start_seen" = "$start" ]; then eval "owner=\$by_$process"; else
        [ -n "$next" ] || return
        owner=$next
        { echo "$process:$start" >> "$scratch/$owner/seen"; } 2>/dev/null
    fi
    eval "of_$process=\$owner"
    [ -d "/proc/$session" ] || eval "of_$session=\$owner"
    owners="$owners$owner " is_grown=yes
}
in_container() { :; } # for jobs in containers: `remote/containers.sh`
tell_end() { :; }
jobs= sizes= is_any_gone= ended= empty=
