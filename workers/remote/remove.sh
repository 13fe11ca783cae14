# What remains is the proof that the job was started: nobody can start it again.
case "$directory" in desk-job-*) ;; *) exit 0 ;; esac
[ -d "$job" ] || exit 0
rm -rf -- "$job/work" "$job/log" "$job/heartbeat" "$job/group" "$job/oom" "$job"/command.* "$job"/pid.*
echo "desk removed"
