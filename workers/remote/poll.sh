# One line per job, then exactly `log=` bytes of its log; last the files of those that have ended
# and of which they are wanted. What many jobs share is asked for once: processes, sizes, files.
line='
'
look() { # directory offset limit files known...: what runs of it
    directory=$1 asked="$1 $2 $3 $4"; shift 4; known=$*
    job="$scratch/$directory" process=alive status=none
    alive && [ -f "$job/exit" ] && wait_for_end
    if alive; then read -r status 2>/dev/null < "$job/exit"; else process=gone is_any_gone=yes; fi
    [ "$boot" = "$this_boot" ] || pid=0
    jobs="$jobs$asked $process ${pid:-0} $status$line"
}
wait_for_end() { # the wrapper has written the status and is about to leave
    for _try in 1 2 3 4 5 6 7 8 9 10; do alive || return; sleep 0.05 2>/dev/null || return; done
}
measure() { # sizes of the logs, beside their names; some busybox has no format for stat
    cd "$scratch" 2>/dev/null || return
    sizes=$(stat -c '%s %n' -- "$@" 2>/dev/null < /dev/null)
    [ -n "$sizes" ] || sizes=$(wc -c -- "$@" 2>/dev/null < /dev/null)
}
report() { # its state and the new part of its log
    job="$scratch/$directory" beat=0 present=yes oom=0 facts=
    if [ "$process" = gone ]; then # what it leaves cannot change any more
        [ "$leader" = 0 ] || case "$running" in *" $leader:"*) process=orphans ;; esac
        case "$marks" in *"=$directory "*) process=orphans ;; esac
        if read -r group 2>/dev/null < "$job/group" && [ -d "$group" ]; then
            if [ -n "$(find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null)" ]; then
                process=orphans
            else
                find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
            fi
        fi
        [ "$process" != gone ] || [ ! -f "$job/container" ] || in_container
        read -r status 2>/dev/null < "$job/exit"
        [ ! -d "$job/box" ] || tell_end
        read -r oom 2>/dev/null < "$job/oom"
    fi
    [ "$leader" = 0 ] || read -r beat 2>/dev/null < "$job/heartbeat"
    [ "${beat:-0}" = 0 ] && beat=0 || beat=$((now - up + beat))
    [ -d "$job" ] || present=no
    more=$((size - offset)); [ $more -lt 0 ] && more=0; [ $more -gt "$limit" ] && more=$limit
    echo "desk $directory present=$present status=$status process=$process beat=$beat size=$size log=$more boot=$this_boot now=$now oom=$oom${facts:+ facts=$facts}"
    if [ $more -gt 0 ] && [ "$offset" -gt 0 ]; then
        tail -c "+$((offset + 1))" "$job/log" | head -c "$more"
    elif [ $more -gt 0 ]; then
        head -c "$more" "$job/log"
    fi
    [ "$wanted" = files ] && [ "$status" != none ] && [ "$process" = gone ] \
        && [ $((offset + more)) -ge "$size" ] && ended="$ended $directory"
}
report_all() {
    running=" " marks=" "
    [ -z "$is_any_gone" ] || { look_around; look_for_marks; }
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
        [ "$2" = "$directory/log" ] && { size=$1; shift 2; }
        report
    done <<END
$jobs
END
    # shellcheck disable=SC2086
    [ -z "$ended" ] || files $ended
}
in_container() { :; } # for jobs in containers: `remote/containers.sh`
tell_end() { :; }
jobs= sizes= is_any_gone= ended=
now=$(date +%s)
read -r up _ < /proc/uptime; up=${up%.*}
