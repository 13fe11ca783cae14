# Runs a job's command inside a container, as `remote/wrapper.sh` does on a node. `box` is the folder
# that both sides see: the claim, the exit status and the wish to stop lie there.
job=$box known=
cd "$box/../work" || exit 1
exec >> ../log 2>&1 < /dev/null
read -r stat < "/proc/$$/stat"
# shellcheck disable=SC2086
set -- ${stat##*) }
read -r boot < /proc/sys/kernel/random/boot_id
echo "$$ ${20} $boot" > "$box/pid.$$" && ln "$box/pid.$$" "$box/pid" 2>/dev/null \
    || { rm -f "$box/pid.$$"; exit 0; }
stop_all() { # signal: what the job started here, but for this shell and the one that watches
    # shellcheck disable=SC2016
    own=$(exec sh -c 'echo "$PPID"')
    members
    for process in $found; do
        case "$process" in "$$" | "$own") ;; *) kill -"$1" "$process" ;; esac
    done
}
echo "            " > "$box/exit.new" # kept for the status, should the disk be full by then
trap '' HUP
trap 'asked=1' TERM INT
shell=sh
command -v bash > /dev/null 2>&1 && shell=bash
"$shell" "$box/start" &
child=$!
( # a cluster's scheduler reaches no container: the job's folder tells it to stop
    trap '[ "$!" = "$child" ] || { kill -KILL "$!"; wait "$!"; } 2>/dev/null; exit' TERM
    while read -r ended < "$box/exit.new" && [ -z "$ended" ]; do
        : > "$box/beat"
        sleep 2 & wait "$!"
        [ ! -s "$box/stop" ] || { read -r signal < "$box/stop"; stop_all "$signal"; }
    done
) > /dev/null 2>&1 &
watch=$!
while :; do
    wait "$child"
    status=$?
    kill -0 "$child" 2>/dev/null || break
done
# On a cluster nobody else can look here for what the command left behind.
[ ! -f ../slurm ] || [ $$ = 1 ] || { stop_all TERM; sleep 2; stop_all KILL; } > /dev/null 2>&1
until { echo "$status" 1<> "$box/exit.new"; } 2>/dev/null || [ ! -d "$box" ]; do sleep 5; done
kill "$watch" 2>/dev/null
wait "$watch" 2>/dev/null
# Files of an administrator inside become those of the folder's owner outside.
if [ "$(id -u)" = 0 ]; then
    # shellcheck disable=SC2012
    owner=$(ls -nd . | { read -r _mode _links user group _rest; echo "$user:$group"; })
    [ "$owner" = 0:0 ] || chown -R "$owner" . "$box" 2>/dev/null
fi
trap '' TERM INT
mv "$box/exit.new" "$box/exit"
exit "$status"
