fail() { echo "desk refused $1"; exit 0; }
umask 077
command -v setsid >/dev/null 2>&1 || fail no_setsid
mkdir -p "$scratch" 2>/dev/null && [ -w "$scratch" ] || fail not_writable
# shellcheck disable=SC2046
set -- $(df -Pk "$scratch" 2>/dev/null | tail -n 1)
[ "${4:-0}" -ge 20480 ] 2>/dev/null || fail no_space
if [ ! -d "$job/started" ]; then
    mkdir -p "$job/work" 2>/dev/null || fail not_writable
    cat > "$job/command.$$" @@command.sh@@
    cat > "$job/wrapper.$$" @@wrapper.sh@@
    mv "$job/command.$$" "$job/command.sh" && mv "$job/wrapper.$$" "$job/wrapper.sh" || fail no_space
    setsid sh "$job/wrapper.sh" "$job" < /dev/null > /dev/null 2>&1 &
fi
tries=0
while [ ! -s "$job/pid" ] && [ $tries -lt 50 ]; do tries=$((tries + 1)); sleep 0.1 2>/dev/null || sleep 1; done
[ -s "$job/pid" ] || fail not_started
echo "desk started $(cat "$job/pid")"
