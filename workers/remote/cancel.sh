# Ends a job that runs; after `remote/fence.sh`.
members
tell ended
if [ "$signal" = KILL ] && read -r group 2>/dev/null < "$job/group"; then
    { echo 1 > "$group/cgroup.kill"; } 2>/dev/null
fi
for process in $found; do
    # TERM goes to the work, not to its wrapper, which must still write the exit status.
    [ "$signal" = TERM ] && [ "$process" = "$pid" ] && [ ! -f "$job/exit" ] && continue
    kill -"$signal" "$process" 2>/dev/null
done
signal_elsewhere
[ "$found" = " " ] || sleep 0.3 2>/dev/null || sleep 1
members
tell_survivors
