# Ends a job that runs; makes sure that one which does not run yet never will.
if [ ! -f "$job/pid" ] && [ -z "$known" ]; then
    mkdir -p "$job" 2>/dev/null
    echo "0 0 fenced" > "$job/pid.$$" && ln "$job/pid.$$" "$job/pid" 2>/dev/null
    rm -f "$job/pid.$$"
fi
identify
leader=$pid
for pid in $(members); do
    # TERM goes to the work, not to its wrapper, which must still write the exit status.
    [ "$signal" = TERM ] && [ "$pid" = "$leader" ] && [ ! -f "$job/exit" ] && continue
    kill -"$signal" "$pid" 2>/dev/null
done
sleep 0.3 2>/dev/null || sleep 1
left=0
for pid in $(members); do left=$((left + 1)); done
[ -s "$job/pid" ] || [ -n "$known" ] || left=unknown
echo "desk left $left"
