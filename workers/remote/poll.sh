# One line per job, then exactly `log=` bytes of its log.
report() { # directory offset limit known...
    directory=$1 offset=$2 limit=$3; shift 3; known=$*
    job="$scratch/$directory"
    status=none beat=0 size=0 process=gone
    read -r status 2>/dev/null < "$job/exit"
    if alive; then process=alive; elif [ -n "$(members)" ]; then process=orphans; fi
    read -r status 2>/dev/null < "$job/exit"
    [ "$status" != none ] && [ $process = alive ] && { wait_for_end; [ -n "$(members)" ] && process=orphans || process=gone; }
    read -r beat 2>/dev/null < "$job/heartbeat"
    [ -f "$job/log" ] && size=$(($(wc -c < "$job/log")))
    more=$((size - offset)); [ $more -lt 0 ] && more=0; [ $more -gt "$limit" ] && more=$limit
    present=yes; [ -d "$job" ] || present=no
    echo "desk $directory present=$present status=$status process=$process beat=${beat:-0} size=$size log=$more boot=$this_boot now=$now"
    [ $more -gt 0 ] && tail -c "+$((offset + 1))" "$job/log" | head -c "$more"
}
wait_for_end() { # the wrapper has written the status and is about to leave
    for _try in 1 2 3 4 5; do alive || return; sleep 0.1 2>/dev/null || return; done
}
now=$(date +%s)
