# Signals a job of Slurm and looks at the queue; what is found of it on this machine is seen to by
# `remote/cancel.sh`. A job that waits is taken out of the queue.
signal=
queued() { # $queue: `number state nodes` of each job of this name that has not ended
    queue=$(timeout 30 squeue --noheader --all --name="$directory" \
        --states=PENDING,CONFIGURING,RUNNING,COMPLETING,SUSPENDED,REQUEUED,STOPPED,SIGNALING,STAGE_OUT \
        --format='%A %T %N' 2>&1) || { echo "desk slurm-away $(echo "$queue" | tr '\n' ' ')"; exit 0; }
}
signal_slurm() {
    queued
    while read -r id state _nodes; do
        case "$state" in
        '') ;;
        PENDING | REQUEUED) timeout 30 scancel --state=PENDING "$id" 2>/dev/null ;;
        *)
            echo "desk ended $id Slurm:$state"
            timeout 30 scancel --signal="$signal" --full "$id" 2>/dev/null ;;
        esac
    done <<END
$queue
END
}
tell_survivors() { # as in `remote/survivors.sh`, and what Slurm still shows
    [ -z "$signal" ] || { signal_slurm; sleep 1; members; }
    left=0
    tell process
    tell_elsewhere
    queued
    while read -r id state nodes; do
        [ -n "$id" ] || continue
        left=$((left + 1))
        echo "desk process $id Slurm:$state $nodes"
    done <<END
$queue
END
    [ -n "$signal" ] || echo "desk tracking $(timeout 20 scontrol show config 2>/dev/null \
        | sed -n 's/^ProctrackType *= *//p')"
    [ "$boot" != fenced ] || echo "desk held"
    echo "desk left $left"
}
