if [ ! -d "$job" ]; then echo "desk absent"; exit 0; fi
status=none
[ -f "$job/exit" ] && read -r status < "$job/exit"
running=gone
alive && running=alive
[ $running = gone ] && [ -n "$(members)" ] && running=orphans
[ -f "$job/exit" ] && read -r status < "$job/exit"
beat=0
[ -f "$job/heartbeat" ] && read -r beat < "$job/heartbeat"
size=0
[ -f "$job/log" ] && size=$(($(wc -c < "$job/log")))
started=no
[ -d "$job/started" ] && started=yes
echo "desk state status=$status process=$running beat=$beat size=$size started=$started now=$(date +%s) boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
[ "$size" -gt "$offset" ] && tail -c "+$((offset + 1))" "$job/log" | head -c "$limit"
exit 0
