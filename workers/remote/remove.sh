case "$directory" in desk-job-*) rm -rf -- "$job" ;; esac
