# What Slurm says of jobs; after `remote/poll.sh`, whose look it replaces. One question for all.
away() { echo "desk slurm-away $(echo "$*" | tr '\n' ' ')"; }
ask_queue() { # names, comma-separated
    queue=$(SLURM_TIME_FORMAT=%s timeout 30 squeue --noheader --all --states=all --name="$1" \
        --format='desk slurm %j|%A|%T|%r|%S|%N' 2>&1) || { away "$queue"; return 1; }
    live=" " over=" " ids=
    while IFS='|' read -r name id state _rest; do
        name=${name#desk slurm }
        case "$state" in
        '') ;;
        BOOT_FAIL | CANCELLED | COMPLETED | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY \
            | PREEMPTED | REVOKED | TIMEOUT) over="$over$name " ids="$ids $id" ;;
        *) live="$live$name " ;;
        esac
    done <<END
$queue
END
    echo "$queue"
}
ask_records() { # names: of those that have ended, Slurm's records
    ended_names= lost_names=
    for name in $(echo "$1" | tr ',' ' '); do
        case "$live" in *" $name "*) continue ;; esac
        ended_names="$ended_names,$name"
    done
    [ -n "$ended_names" ] || return
    for id in $ids; do
        timeout 30 scontrol --oneliner show job "$id" 2>/dev/null | sed 's/^/desk scontrol /'
    done
    records=$(timeout 30 sacct --noheader --parsable2 --allocations --starttime=now-30days \
        --name="${ended_names#,}" \
        --format=JobName,JobIDRaw,State,ExitCode,NodeList,ElapsedRaw,AllocTRES 2>&1) \
        && echo "$records" | sed 's/^/desk sacct /' \
        || echo "desk sacct-away $(echo "$records" | tr '\n' ' ')"
    for name in $(echo "$ended_names" | tr ',' ' '); do
        [ ! -s "$scratch/$name/slurm.out" ] || tail -c 2000 "$scratch/$name/slurm.out" \
            | tr '\r' '\n' | sed "s/^/desk slurm-output $name /"
        [ -s "$scratch/$name/slurm.out" ] && echo
    done
}
look() { # directory offset limit files: what runs of it is what Slurm says
    directory=$1 asked="$1 $2 $3 $4" job="$scratch/$1" process=gone given=
    case "$live" in *" $1 "*) process=alive ;; esac
    # Slurm may have forgotten a job that still runs, as after a start without its saved state.
    case "$over" in *" $1 "*) ;; *)
        [ -f "$job/exit" ] || [ -z "$(find "$job/heartbeat" -mmin -1 2>/dev/null)" ] \
            || process=alive ;;
    esac
    [ "$process" = alive ] || is_any_gone=yes
    read -r given 2>/dev/null < "$job/slurm" && echo "desk slurm-given $1 $given"
    jobs="$jobs$asked $process 0 none$line"
}
