# The node's own view of its network, in lines `desk net …`. POSIX sh; what is missing is left out.
say() { echo "desk net $*"; }
case "$address" in
*[!0-9.:a-fA-F]*) # a name: what this node itself makes of it
    found=$(getent hosts "$address" 2>/dev/null); found=${found%% *}
    [ -z "$found" ] || address=$found ;;
esac
say address "$address"
if command -v ip >/dev/null 2>&1; then
    own=no
    while read -r _ name _ cidr _; do
        [ "${cidr%/*}" = "$address" ] && own=yes interface=${name%%@*}
    done <<END
$(ip -o addr show 2>/dev/null)
END
    case "$address" in 127.*) own=yes interface=${interface:-lo} ;; esac
    say own "$own"
    [ -z "$interface" ] || say interface "$interface"
fi
# Ports that somebody listens on or is connected with stand in hexadecimal after the second colon.
used=" "
for table in /proc/net/tcp /proc/net/tcp6; do
    while read -r _ local _; do used="$used${local##*:} "; done < "$table"
done 2>/dev/null
tries=0
while [ $tries -lt 500 ]; do
    hex=$(printf '%04X' "$port")
    case "$used" in *" $hex "*) ;; *)
        case " $taken " in *" $port "*) ;; *) say port "$port"; break ;; esac ;;
    esac
    port=$((port + 1)) tries=$((tries + 1))
done
for card in $cards; do # `address_0=192.168.1.8`, else what hccn_tool says
    ip=$(sed -n "s/^address_$card=//p" /etc/hccn.conf 2>/dev/null)
    [ -n "$ip" ] || ip=$(hccn_tool -i "$card" -ip -g 2>/dev/null < /dev/null | sed -n 's/^ipaddr://p')
    [ -z "$ip" ] || say device "$card" "$ip"
done
exit 0
