#!/bin/sh
# Begins on the compute node: notes what Slurm gave, then runs the job as on any node.
job=$1 command=$2 wrapper=$3 gres=$4
cd "$job" || exit 1
[ ! -f pid ] || exit 0  # another job of this name has run it, or it was cancelled
DESK_JOB=${job##*/}
export DESK_JOB
cards= source=
indexes() { # `0-1,4` becomes `0,1,4`
    list=
    for part in $(echo "$1" | tr ',' ' '); do
        first=${part%-*} last=${part#*-}
        while [ "$first" -le "$last" ] 2>/dev/null; do
            list="$list${list:+,}$first" first=$((first + 1))
        done
    done
    echo "$list"
}
ask_cards() { # of the first node, as `scontrol` tells: GRES=npu:2(IDX:0-1)
    details=$(timeout 20 scontrol --details --oneliner show job "$SLURM_JOB_ID" 2>/dev/null)
    case "$details" in *" GRES="*"$gres"*"(IDX:"*) ;; *) return ;; esac
    details=${details#*" GRES="}
    details=${details#*"$gres"}
    details=${details#*"(IDX:"}
    cards=$(indexes "${details%%)*}") source=scontrol
}
find_cards() {
    for name in ASCEND_RT_VISIBLE_DEVICES ASCEND_VISIBLE_DEVICES SLURM_STEP_GPUS SLURM_JOB_GPUS; do
        eval "cards=\$$name" source=$name
        [ -z "$cards" ] || { cards=$(indexes "$cards"); return; }
    done
    source=
    ask_cards
}
if [ -n "$gres" ]; then
    find_cards
    # Slurm itself shows only GPUs to the programs of a job; two jobs must not share card 0.
    [ -z "$cards" ] || [ -n "$ASCEND_RT_VISIBLE_DEVICES$ASCEND_VISIBLE_DEVICES" ] \
        || export ASCEND_RT_VISIBLE_DEVICES="$cards"
fi
echo "job=$SLURM_JOB_ID nodes=$SLURM_JOB_NODELIST cards=$cards source=$source" > "slurm.$$"
ln "slurm.$$" slurm 2>/dev/null
rm -f "slurm.$$"
exec sh "$wrapper" "$job" "$command"
