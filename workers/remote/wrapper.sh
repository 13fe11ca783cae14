# Runs a job once: whoever creates the folder `started` first wins, all others leave.
job=$1
cd "$job" || exit 1
mkdir started 2>/dev/null || exit 0
stat=$(cat "/proc/$$/stat")
set -- ${stat##*) }
echo "$$ ${20} $(cat /proc/sys/kernel/random/boot_id)" > pid.new && mv pid.new pid
trap '' HUP
trap 'asked=1' TERM INT
( cd work && exec sh ../command.sh ) < /dev/null > log 2>&1 &
child=$!
( while kill -0 $$ 2>/dev/null && [ ! -f exit ]; do date +%s > heartbeat; sleep 5; done ) > /dev/null 2>&1 &
beat=$!
while :; do
    wait "$child"
    status=$?
    # wait returns early when a trapped signal arrives
    kill -0 "$child" 2>/dev/null || break
done
echo "$status" > exit.new && mv exit.new exit
kill "$beat" 2>/dev/null
