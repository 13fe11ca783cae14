# Runs a job once. A hard link appears whole or not at all: whoever links `pid` first wins, all
# others leave; and the file names its winner from the first moment.
command=$2 group=$3
cd "$1" || exit 1
read -r stat < "/proc/$$/stat"
# shellcheck disable=SC2086
set -- ${stat##*) }
read -r boot < /proc/sys/kernel/random/boot_id
echo "$$ ${20} $boot" > "pid.$$" && ln "pid.$$" pid 2>/dev/null || { rm -f "pid.$$" "$command"; exit 0; }
exec 3>&-  # who started this waits until it is closed
# The control group that the start made for it holds whatever the job starts; a scheduler has its own.
[ -z "$group" ] || { echo $$ > "$group/cgroup.procs" && echo "$group" > group; } 2>/dev/null
# A disk that is full at the end has room for the status all the same: it is kept here from now on.
echo "            " > exit.new
count_kills() { # $kills: of this machine since it started, for want of memory; no process is needed
    { while read -r name kills; do [ "$name" != oom_kill ] || return; done < /proc/vmstat; } 2>/dev/null
    kills=0
}
count_kills
killed_before=$kills
trap '' HUP
trap 'asked=1' TERM INT
( cd work && exec sh "../$command" ) < /dev/null >> log 2>&1 &
child=$!
beat=
[ -z "$SLURM_JOB_ID$DESK_CLUSTER" ] || { # a heart, for whoever cannot look at this machine's processes
    (
        # KILL: a process that has only just been forked can miss a TERM
        trap '[ "$!" = "$child" ] || { kill -KILL "$!"; wait "$!"; } 2>/dev/null; exit' TERM
        while kill -0 $$ 2>/dev/null && read -r ended < exit.new && [ -z "$ended" ]; do
            echo > heartbeat
            sleep 5 & wait "$!"
        done
    ) > /dev/null 2>&1 &
    beat=$!
}
while :; do
    wait "$child"
    status=$?
    # wait returns early when a trapped signal arrives
    kill -0 "$child" 2>/dev/null || break
done
[ "$status" = 0 ] || {
    count_kills
    [ "$kills" = "$killed_before" ] || echo $((kills - killed_before)) > oom
}
# The heart stops first: when the status appears, nothing of ours is left but its last act. A heart
# that has not begun to listen yet sees `exit.new`, which is written in place.
until { echo "$status" 1<> exit.new; } 2>/dev/null || [ ! -d "$PWD" ]; do sleep 5; done
[ -z "$beat" ] || { kill "$beat"; wait "$beat"; } 2>/dev/null
trap '' TERM INT
exec mv exit.new exit
