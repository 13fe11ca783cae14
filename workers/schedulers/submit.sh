# Hands one job to Slurm. Runs apart from the visit, so that a broken connection does not cut it
# short. A hard link appears whole or not at all: whoever links `claim.N` submits, all others leave.
# Even two jobs of one name would run the command once: its wrapper lets one win.
job=$1 command=$2 wrapper=$3 batch=$4 gres=$5
shift 5
cd "$job" || exit 1
unset ASCEND_RT_VISIBLE_DEVICES ASCEND_VISIBLE_DEVICES  # of the log-in node; not what Slurm gives
leave() { rm -f "$command" "error.$$"; exit 0; }
is_over() { # a claim that came to nothing, or whose answer would have come long ago
    [ -f "failed.$1" ] || [ -n "$(find "claim.$1" -mmin +2 2>/dev/null)" ]
}
claim() {
    turn=1
    while [ -f "claim.$turn" ]; do
        is_over "$turn" || leave
        turn=$((turn + 1))
    done
    echo "$$" > "claiming.$$"
    ln "claiming.$$" "claim.$turn" 2>/dev/null || { rm -f "claiming.$$"; leave; }
    rm -f "claiming.$$"
}
look() { # $found: the first job of this name; false where Slurm does not answer
    rows=$(timeout 30 squeue --noheader --all --states=all --name="${job##*/}" \
        --sort=i --format='%A|%T|%N|%r' 2>/dev/null) || return 1
    accounts=$(timeout 30 sacct --noheader --parsable2 --allocations --starttime=now-30days \
        --name="${job##*/}" --format=JobIDRaw,State,NodeList 2>/dev/null) || accounts=
    # What Slurm refuses is in its records as well: failed, and never on a node.
    found=$(printf '%s\n%s\n' "$rows" "$accounts" \
        | grep -v -e '|FAILED|None assigned' -e '|FAILED||' -e '^$' | head -n 1)
    found=${found%%"|"*}
}
keep() { # Slurm's number of the job
    echo "$1" > "submitted.$$" && mv "submitted.$$" submitted
    read -r _pid _start boot < pid 2>/dev/null
    [ "$boot" != fenced ] || timeout 30 scancel "$1" 2>/dev/null
    rm -f "error.$$"
    exit 0
}
fail() { # word, why. Slurm may still take what it did not answer: that job needs its command.
    echo "$1 $(echo "$2" | tr '\n' ' ')" > "failing.$$" && mv "failing.$$" "failed.$turn"
    rm -f "error.$$"
    exit 0
}
claim
[ ! -f submitted ] && [ ! -f pid ] || leave
if [ "$turn" -gt 1 ]; then # an earlier answer may have been lost on its way
    look || fail away "squeue does not answer"
    [ -z "$found" ] || keep "$found"
fi
if answer=$(timeout 90 sbatch --parsable --no-requeue --job-name="${job##*/}" --chdir="$job" \
    --output="$job/slurm.out" "$@" "$batch" "$job" "$command" "$wrapper" "$gres" 2> "error.$$")
then
    answer=${answer%%;*}
    case "$answer" in '' | *[!0-9]*) ;; *) keep "$answer" ;; esac
fi
why=$(cat "error.$$")
look || fail away "$why"
[ -z "$found" ] || keep "$found"
case "$why" in
*nable\ to\ contact* | *imed\ out* | *onnect* | *emporar* | *ero\ [Bb]ytes* | *ransport* \
    | *ommunication* | *"ry again"* | '') fail away "$why" ;;
*) fail refused "$why" ;;
esac
