# Runs a job once. A hard link appears whole or not at all: whoever links `pid` first wins, all
# others leave; and the file names its winner from the first moment.
command=$2
cd "$1" || exit 1
read -r stat < "/proc/$$/stat"
# shellcheck disable=SC2086
set -- ${stat##*) }
read -r boot < /proc/sys/kernel/random/boot_id
echo "$$ ${20} $boot" > "pid.$$" && ln "pid.$$" pid 2>/dev/null || { rm -f "pid.$$" "$command"; exit 0; }
enter_group() { # a control group of its own, where this login may make one, holds whatever the job starts
    for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
        [ -w "$root/cgroup.procs" ] || continue
        group="$root/desk-jobs/${PWD##*/}"
        { mkdir -p "$group" && echo $$ > "$group/cgroup.procs" && echo "$group" > group; } 2>/dev/null
        return
    done
}
oom_kills() { # of this machine since it started
    grep '^oom_kill ' /proc/vmstat 2>/dev/null
}
[ -n "$SLURM_JOB_ID$DESK_CLUSTER" ] || enter_group  # a scheduler has its own, with the limits of the job
killed_before=$(oom_kills)
trap '' HUP
trap 'asked=1' TERM INT
( cd work && exec sh "../$command" ) < /dev/null > log 2>&1 &
child=$!
(
    # KILL: a process that has only just been forked can miss a TERM
    trap '[ "$!" = "$child" ] || { kill -KILL "$!"; wait "$!"; } 2>/dev/null; exit' TERM
    while kill -0 $$ 2>/dev/null && [ ! -f exit.new ]; do
        read -r up rest < /proc/uptime; echo "${up%.*}" > heartbeat
        sleep 5 & wait "$!"
    done
) > /dev/null 2>&1 &
beat=$!
while :; do
    wait "$child"
    status=$?
    # wait returns early when a trapped signal arrives
    kill -0 "$child" 2>/dev/null || break
done
killed=$(oom_kills)
[ "$status" = 0 ] || [ "$killed" = "$killed_before" ] || echo $((${killed#* } - ${killed_before#* })) > oom
# The heart stops first: when the status appears, nothing of ours is left but its last act. A heart
# that has not begun to listen yet sees `exit.new`.
echo "$status" > exit.new
kill "$beat" 2>/dev/null
wait "$beat" 2>/dev/null
trap '' TERM INT
exec mv exit.new exit
