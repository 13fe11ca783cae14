# What remains is the proof that the job was started: nobody can start it again.
case "$directory" in desk-job-*) ;; *) exit 0 ;; esac
[ -d "$job" ] || exit 0
if [ -f "$job/container" ]; then # one of ours that ended with its node
    . "$job/container"
    [ "$place" != container ] || engine rm -f "$container" > /dev/null 2>&1 < /dev/null
fi
# A job may have closed its own folders: what they hold cannot be removed before they are open.
find "$job/work" -type d ! -perm -700 -exec chmod u+rwx {} \; 2> /dev/null
rm -rf -- "$job/work" "$job/inputs" "$job/log" "$job/heartbeat" "$job/group" "$job/oom" "$job/box" "$job/container" "$job/ended" "$job/facts" "$job"/command.* "$job"/pid.*
echo "desk removed"
