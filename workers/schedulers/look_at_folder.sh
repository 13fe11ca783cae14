# What a job's folder tells while a cluster runs it elsewhere; after `remote/poll.sh`, whose look it
# replaces. Whether it runs is told by the cluster; the heart counts where that knows nothing of it.
look() { # directory offset limit files
    directory=$1 asked="$1 $2 $3 $4" job="$scratch/$1" process=gone given=
    [ -f "$job/exit" ] || [ -z "$(find "$job/heartbeat" -mmin -1 2>/dev/null)" ] || process=alive
    [ -z "$(find "$job/exit" -mmin -1 2>/dev/null)" ] || echo "desk fresh $1"
    read -r given 2>/dev/null < "$job/given" && echo "desk given $1 $given"
    jobs="$jobs$asked $process 0 none$line"
}
