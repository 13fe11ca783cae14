if [ ! -f "$job/pid" ]; then echo "desk left 0"; exit 0; fi
for pid in $(members); do
    read -r leader rest < "$job/pid"
    # TERM goes to the work, not to its wrapper, which must still write the exit status.
    [ "$signal" = TERM ] && [ "$pid" = "$leader" ] && continue
    kill -"$signal" "$pid" 2>/dev/null
done
sleep 0.3 2>/dev/null || sleep 1
left=0
for pid in $(members); do left=$((left + 1)); done
echo "desk left $left"
