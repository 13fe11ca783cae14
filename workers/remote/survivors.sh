# What of a job runs: its session, whoever carries its mark or is in its control group, and the
# children and sessions of all those; and what an earlier look found, though it has lost all that.
members() { # $found: these processes
    found=" " marked=" " sessions=" " kept= is_grown=yes
    identify && sessions=" $pid "
    [ -n "$boot" ] && [ "$boot" != "$this_boot" ] && return
    look_for_marks
    for entry in $marks; do
        [ "${entry#*=}" != "$directory" ] || marked="$marked${entry%%=*} "
    done
    for process in $(in_group); do marked="$marked$process "; done
    look_around
    recall
    while [ -n "$is_grown" ]; do
        is_grown=
        for entry in $running; do add_if_ours; done
    done
    leave_out
    # An engine's own processes begin below the job and are no part of it.
    [ -z "$kept" ] || [ -f "$job/container" ] || echo "$kept" >> "$job/seen"
} 2>/dev/null
# A job in a container runs elsewhere as well: `remote/containers.sh` fills these.
leave_out() { :; }
signal_elsewhere() { :; }
tell_elsewhere() { :; }
in_group() {
    read -r group 2>/dev/null < "$job/group" || return
    find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null
}
add_if_ours() { # $entry of $running
    split
    case "$found" in *" $process "*) return ;; esac
    case "$seen" in *" $process:$start "*) ;; *)
        case "$sessions" in *" $session "*) ;; *)
            case "$marked$found" in *" $process "* | *" $parent "*) ;; *) return ;; esac ;;
        esac
        kept="$kept${kept:+$line}$process:$start" ;;
    esac
    found="$found$process " is_grown=yes
    [ "$session" != "$process" ] || sessions="$sessions$session "
}
tell_survivors() { # number and name of each, then how many there are
    left=0
    tell process
    tell_elsewhere
    [ -s "$job/pid" ] || [ -n "$known" ] || [ "$left" != 0 ] || left=unknown
    if [ -s "$job/group" ] || { [ -n "$boot" ] && [ "$boot" != "$this_boot" ]; }; then echo "desk held"; fi
    echo "desk left $left"
}
tell() { # word: number and name of each process that is found
    for process in $found; do
        read -r name 2>/dev/null < "/proc/$process/comm" || continue
        left=$((left + 1))
        echo "desk $1 $process $name"
    done
}
tell_cards() { # what npu-smi prints, where there is one
    for tool in npu-smi /usr/local/sbin/npu-smi /usr/local/bin/npu-smi; do
        command -v "$tool" >/dev/null 2>&1 || continue
        echo "desk cards"
        timeout 20 "$tool" info 2>/dev/null < /dev/null
        return
    done
}
