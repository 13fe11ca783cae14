# Begins in a container of a cluster: notes what it was given, then runs the job as on any node. Of
# several containers of a job the first runs the wrapper; the others run the same command beside it.
job=$1 wrapper=$2
cd "$job" 2>/dev/null || { echo "desk: this container does not reach the job's folder $job" >&2; exit 90; }
DESK_JOB=${job##*/} DESK_CLUSTER=yes
NODE_RANK=${VC_TASK_INDEX:-0}
hosts=${VC_NODE_HOSTS:-$VC_WORKER_HOSTS} # Volcano: its plugins svc and env; ModelArts
MASTER_ADDR=${hosts%%,*} MASTER_PORT=29500 NNODES=${DESK_NODES:-1}
export DESK_JOB DESK_CLUSTER NODE_RANK MASTER_ADDR MASTER_PORT NNODES
[ -n "$MASTER_ADDR" ] || MASTER_ADDR=127.0.0.1
find_cards() {
    cards=$ASCEND_VISIBLE_DEVICES source=ASCEND_VISIBLE_DEVICES
    case "$cards" in
    Ascend*) cards=$(echo "$cards" | sed 's/[A-Za-z0-9]*-//g') ;; # as `Ascend910-0,Ascend910-1`
    esac
    case "$cards" in '' | *[!0-9,]*) cards= ;; *) return ;; esac
    for device in /dev/davinci[0-9]*; do
        [ ! -e "$device" ] || cards="$cards${cards:+,}${device#/dev/davinci}" source=/dev
    done
    [ -n "$cards" ] || source=
}
stop() { # the container's first process is told to stop: the work is, not its wrapper
    kill -TERM "-$child" 2>/dev/null || kill -TERM "$child" 2>/dev/null
}
run() { # a session of its own, so that all of it can be told to stop
    if command -v setsid > /dev/null 2>&1; then setsid "$@" & else "$@" & fi
    child=$!
    trap stop TERM INT
    while :; do
        wait "$child"
        status=$?
        kill -0 "$child" 2>/dev/null || exit "$status"
    done
}
if [ "$NODE_RANK" != 0 ]; then
    echo "$HOSTNAME" > "rank.$NODE_RANK.$$" && ln "rank.$NODE_RANK.$$" "rank.$NODE_RANK" 2>/dev/null \
        || { rm -f "rank.$NODE_RANK.$$"; exit 0; }
    rm -f "rank.$NODE_RANK.$$"
    cd work || exit 90
    exec > "desk-rank-$NODE_RANK.log" 2>&1
    run sh ../command.desk
fi
[ ! -f pid ] || exit 0  # another container of this job has run it, or it was cancelled
find_cards
echo "pod=$HOSTNAME nodes=$DESK_POD_NODE cards=$cards source=$source" > "given.$$"
ln "given.$$" given 2>/dev/null
rm -f "given.$$"
cp command.desk "command.$$" || exit 91
run sh "$wrapper" "$job" "command.$$"
