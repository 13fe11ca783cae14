# What the cards do while jobs run. The answer is that of an earlier look: a look runs beside the
# script, so that tools that take seconds, or hang with a broken driver, hold up no job.
sample() { # mark, seconds between two looks, and between two that ask each card for itself
    if [ -f "$scratch/.desk-sample" ] && mv "$scratch/.desk-sample" "$scratch/.desk-sample-$$"; then
        echo; echo "$1 $now"
        cat "$scratch/.desk-sample-$$"
        rm -f "$scratch/.desk-sample-$$"
    fi
    last=0 looker=0 last_long=0
    read -r last looker last_long 2>/dev/null < "$scratch/.desk-sampled"
    since=$((now - ${last:-0}))
    [ $since -lt 0 ] || [ $since -ge "$2" ] || return 0
    [ $since -lt 3600 ] && [ -d "/proc/${looker:-0}" ] && return 0
    is_long=
    [ $((now - ${last_long:-0})) -ge "$3" ] && is_long=yes last_long=$now
    # By exec: for a redirected function some shells keep the old output open beside the new one,
    # and the answer would not end before the look does.
    (exec < /dev/null > /dev/null 2>&1; look_at_cards) &
    echo "$now $! $last_long" > "$scratch/.desk-sampled"
}
look_at_cards() {
    {
        echo "desk taken $now"
        read -r load _ < /proc/loadavg && echo "desk load $load"
        while read -r key amount _; do
            case $key in MemTotal: | MemAvailable:) echo "desk memory $key $amount" ;; esac
        done < /proc/meminfo
        ask_cards
        echo "desk end"
    } > "$scratch/.desk-sample.part" 2>/dev/null \
        && mv "$scratch/.desk-sample.part" "$scratch/.desk-sample"
}
ask_cards() {
    for tool in npu-smi /usr/local/sbin/npu-smi /usr/local/bin/npu-smi; do
        command -v "$tool" >/dev/null 2>&1 || continue
        echo "desk npu-smi"
        timeout 60 "$tool" info
        [ -z "$is_long" ] || ask_each_card
        return
    done
    command -v nvidia-smi >/dev/null 2>&1 || return
    echo "desk nvidia-smi"
    timeout 60 nvidia-smi --format=csv,noheader,nounits --query-gpu=index,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu,ecc.errors.uncorrected.volatile.total
}
ask_each_card() { # `tool` is npu-smi
    ids=$(timeout 60 "$tool" info -l | sed -n 's/^[[:space:]]*NPU ID *: *\([0-9][0-9]*\).*/\1/p')
    for id in $ids; do
        echo "desk ecc $id"
        timeout 60 "$tool" info -t ecc -i "$id"
    done
    devices=$(cd /dev && for name in davinci[0-9]*; do echo "${name#davinci}"; done)
    case $devices in *[*]*) devices=$ids ;; esac
    for hccn in hccn_tool /usr/local/Ascend/driver/tools/hccn_tool; do
        command -v "$hccn" >/dev/null 2>&1 || continue
        for device in $devices; do
            echo "desk link $device"
            timeout 60 "$hccn" -i "$device" -link -g
        done
        return
    done
}
