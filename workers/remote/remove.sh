# What remains is the proof that the job was started: nobody can start it again.
case "$directory" in desk-job-*) ;; *) exit 0 ;; esac
[ -d "$job" ] || exit 0
if [ -f "$job/container" ]; then # one of ours that ended with its node
    . "$job/container"
    [ "$place" != container ] || engine rm -f "$container" > /dev/null 2>&1 < /dev/null
fi
rm -rf -- "$job/work" "$job/inputs" "$job/log" "$job/heartbeat" "$job/group" "$job/oom" "$job/box" "$job/container" "$job/ended" "$job/facts" "$job"/command.* "$job"/pid.*
echo "desk removed"
