# Starts a job's command in a container, waits for its end and keeps what the engine says of both.
# Before it stand the options as shell variables, the functions of `remote/containers.sh`, and
# `engine_words`, the node's own engine; without any, the first one that answers.
fail() { echo "desk runtime: $*" >&2; exit 78; }
vanish() { # nobody saw the command end; KILL is how an engine ends what is in a container
    echo "desk runtime: container-vanished $container" >&2; exit 137
}
job=${PWD%/work}
directory=${job##*/} inside=$job
container=${container:-$directory}
find_engine() {
    for tool in docker podman nerdctl; do
        command -v "$tool" > /dev/null 2>&1 || continue
        timeout 20 "$tool" version > /dev/null 2>&1 < /dev/null && engine_words=$tool && return
        silent="$silent $tool"
    done
    [ -z "$silent" ] || fail "engine-silent$silent"
    fail engine-missing
}
note() { printf '%s\n' "$*" >> "$job/facts"; }
note_image() { # of the container: what it was made from is evidence
    note "engine $engine_words $(engine version --format '{{.Client.Version}}' 2>/dev/null)"
    note "$(engine container inspect --format \
        'container {{.Id}}{{println}}image {{.Image}}{{println}}started_at {{.State.StartedAt}}' \
        "$container" 2>/dev/null | grep .)"
    image_id=$(sed -n 's/^image //p' "$job/facts" | head -n 1)
    note "$(engine image inspect --format \
        'digests {{json .RepoDigests}}{{println}}labels {{json .Config.Labels}}' \
        "$image_id" 2>/dev/null | grep .)"
}
engine_text() { # the mark is the container's, not that of the engine's own processes
    echo "engine() { ( unset DESK_JOB; exec \${limit:+timeout \$limit} $engine_words \"\$@\" ); }"
}
leave_group() { # the engine's own processes are no part of the job
    read -r group 2>/dev/null < "$job/group" || return 0
    echo $$ > "${group%/desk-jobs/*}/cgroup.procs"
}
keep() { # for whoever looks later: how to ask for it
    printf '%s\n' "$(engine_text)" \
        "container='$container' place=$place inside='$inside'" > "$job/container.$$"
    mv "$job/container.$$" "$job/container"
    has_container
}
lay() { # the folder that both sides see
    mkdir -p "$job/box" || fail "box-failed"
    printf '%s\n' "box='$inside/box' directory='$directory'" "$inside_text" "$inside_script" \
        > "$job/box/inside"
    printf '%s\n' "cards='$cards'" "$start_script" > "$job/box/start"
    [ -z "$user" ] || chmod -R go+rwX "$job/box" "$job/work" "$job/log"
}
devices() { # $devices: those of the leased cards, then the words of `run` with them
    [ "$devices" != none ] || return 0
    if [ "$devices" = ascend ]; then # Ascend Docker Runtime passes the devices on itself
        [ -z "$cards" ] || more="-e ASCEND_VISIBLE_DEVICES=$cards"
        return
    fi
    for card in $(echo "$cards" | tr ',' ' '); do
        [ -e "/dev/davinci$card" ] || fail "device-missing /dev/davinci$card"
        more="$more --device /dev/davinci$card"
    done
    for device in davinci_manager devmm_svm hisi_hdc; do
        [ ! -e "/dev/$device" ] || more="$more --device /dev/$device"
    done
    for file in /usr/local/Ascend/driver /usr/local/dcmi /usr/local/bin/npu-smi \
        /usr/local/sbin/npu-smi /etc/ascend_install.info; do
        [ ! -e "$file" ] || more="$more -v $file:$file:ro"
    done
}
forget_ended() { # on a compute node: containers of ours that lost whoever would have removed them
    [ -n "$SLURM_JOB_ID" ] || return 0
    for name in $(engine ps -a --filter label=desk.job --format '{{.Names}}' 2>/dev/null \
        < /dev/null); do
        [ -f "${job%/*}/$name/box/exit" ] \
            && [ -z "$(find "${job%/*}/$name/heartbeat" -mmin -1 2>/dev/null)" ] || continue
        ( container=$name; container_state; [ "$is_running" != no ] \
            || engine rm -f "$name" ) > /dev/null 2>&1 < /dev/null
    done
}
run_new() { # further words of `run`
    more=
    forget_ended
    devices
    lay
    keep
    [ ! -d "$job/inputs" ] || set -- -v "$job/inputs:$job/inputs:ro" "$@"
    # shellcheck disable=SC2086
    engine run -d --name "$container" --label "desk.job=$directory" -e "DESK_JOB=$directory" \
        -w "$job/work" -v "$job/work:$job/work" -v "$job/log:$job/log" -v "$job/box:$job/box" \
        $more "$@" "$job/box/inside" > "$job/started.$$" < /dev/null
    status=$?
    rm -f "$job/started.$$"
    [ "$status" = 0 ] || { engine rm -f "$container" > /dev/null 2>&1; rm -f "$job/container"
        fail "container-refused $status"; }
    note_image
}
find_mount() { # $inside: where a running container sees the job's folder
    real=$(cd "$job" && pwd -P) longest=
    mounts=$(engine container inspect --format \
        '{{range .Mounts}}{{.Source}}|{{.Destination}}{{println}}{{end}}' "$container" 2>/dev/null)
    while IFS='|' read -r source target; do
        [ -n "$source" ] || continue
        case "$real/" in "${source%/}/"*) ;; *) continue ;; esac
        [ "${#source}" -ge "${#longest}" ] || continue
        longest=$source inside=${target%/}${real#"${source%/}"}
    done <<END
$mounts
END
    [ -n "$longest" ] || fail "mount-missing $container $real"
}
run_inside() { # the container may do other work: only what the job starts there is its own
    eval "$(engine_text)"
    container_state
    case "$is_running" in
    no) fail "container-stopped $container" ;;
    unknown) fail "engine-failed $(echo "$state" | tr '\n' ' ')" ;;
    esac
    find_mount
    lay
    keep
    note_image
    # shellcheck disable=SC2086
    engine exec ${user:+--user} $user -e "DESK_JOB=$directory" "$container" \
        sh "$inside/box/inside" < /dev/null &
    client=$!
    watch_client &
    watcher=$!
    while :; do
        wait "$client"
        exec_status=$?
        kill -0 "$client" 2>/dev/null || break # else a signal came
    done
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
}
watch_client() { # a client may wait for ever for a container that was taken away
    trap 'kill -KILL "$!" 2>/dev/null; exit' TERM
    while :; do
        sleep 20 & wait "$!"
        container_state
        [ "$is_running" != no ] || kill -KILL "$client" 2>/dev/null
    done
} > /dev/null 2>&1
await_new() { # the client may be cut off; what counts is what the engine says of the container
    while :; do
        limit=60 # an engine whose watcher of the container is gone waits for ever
        engine wait "$container" > /dev/null 2>&1 < /dev/null
        limit=
        container_state
        [ "$is_running" != no ] || break
        sleep 2
    done
    [ -s "$job/box/pid" ] || engine logs "$container" 2>&1 < /dev/null
    close_container || vanish
    [ -s "$job/box/pid" ] || fail "inside-failed $ended"
    exit "$ended"
}
await_inside() { # the client may be cut off; then the job is looked for inside until it is gone
    while [ ! -f "$job/box/exit" ]; do
        container_state
        [ "$is_running" != no ] || break
        [ "$is_running" = unknown ] || [ -s "$job/box/pid" ] || fail "exec-failed $exec_status"
        answer=$([ "$is_running" = yes ] && look_inside "members
tell_survivors")
        [ "${answer##*desk left }" != 0 ] || break
        sleep 2
    done
    [ -f "$job/box/exit" ] || [ "$is_running" != no ] || vanish
    status=137
    read -r status 2>/dev/null < "$job/box/exit"
    exit "$status"
}
# A cluster's scheduler signals this shell, which stands for all inside.
trap '[ -z "$SLURM_JOB_ID" ] || echo TERM > "$job/box/stop"' TERM INT
leave_group
[ "${SLURM_JOB_NUM_NODES:-1}" -le 1 ] || echo "[Delivery Desk] 容器只在 Slurm 分配的 $SLURM_JOB_NUM_NODES 个节点中的第一个上运行，其余节点上不启动任何进程。 / The container runs on the first of the $SLURM_JOB_NUM_NODES nodes that Slurm gave; nothing is started on the others."
[ -n "$engine_words" ] || find_engine
