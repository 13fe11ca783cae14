# What a runtime could be made of on this node: one line for each thing found, at most two hundred
# of a kind. `engine_words` is the engine that the node names, or empty.
offer() { # kind: of each line that is read
    head -n 200 | while read -r found; do [ -z "$found" ] || echo "desk offer $1 $found"; done
}
engines() { # $engine_words: the first that answers; each once, also podman that is called docker
    known=
    for tool in "$engine_words" docker podman nerdctl; do
        [ -n "$tool" ] || continue
        case " $known " in *" $tool "*) continue ;; esac
        known="$known $tool"
        command -v "${tool%% *}" > /dev/null 2>&1 || continue
        # shellcheck disable=SC2086
        version=$(eval "timeout 20 $tool version --format '{{.Client.Version}}'" 2>/dev/null) || continue
        [ "$tool" != docker ] || case $(docker --version 2>/dev/null) in podman*) continue ;; esac
        echo "desk offer engine $tool $version"
        engine_words=${engine_words:-$tool}
        [ "$tool" != "$engine_words" ] || is_answering=yes
    done
}
end_leftovers() { # of this look: rootless podman leaves a process that waits for its next call
    for file in $(grep -alsF "DESK_LOOK=$DESK_LOOK" /proc/[0-9]*/environ 2>/dev/null); do
        process=${file#/proc/} process=${process%/environ}
        [ "$process" = $$ ] || kill -KILL "$process" 2>/dev/null
    done
}
DESK_LOOK=$$-$(date +%s)
export DESK_LOOK
is_answering=
engines
echo "desk offers engines"
if [ -n "$is_answering" ]; then
    eval "timeout 30 $engine_words images --digests --format '{{.Repository}}:{{.Tag}} {{.Repository}}@{{.Digest}}'" \
        2>/dev/null | grep -v -e '<none> ' | offer image
    eval "timeout 30 $engine_words ps --format '{{.Names}} {{.Image}}'" 2>/dev/null | offer container
fi
for root in /usr/local/Ascend "$HOME/Ascend" /opt/Ascend; do
    for file in "$root"/ascend-toolkit/set_env.sh "$root"/cann/set_env.sh \
        "$root"/nnal/atb/set_env.sh "$root"/nnal/asdsip/set_env.sh "$root"/mindie/set_env.sh \
        "$root"/atb-models/set_env.sh "$root"/llm_model/set_env.sh; do
        [ ! -f "$file" ] || echo "$file"
    done
done | offer script
for root in "${CONDA_EXE%/bin/conda}" "$HOME"/miniconda3 "$HOME"/anaconda3 "$HOME"/miniforge3 \
    /opt/conda /opt/miniconda3 /opt/anaconda3 /usr/local/miniconda3 /usr/local/anaconda3; do
    [ -n "$root" ] && [ -f "$root/etc/profile.d/conda.sh" ] || continue
    for folder in "$root" "$root"/envs/*; do [ ! -d "$folder/conda-meta" ] || echo "$folder"; done
done | offer conda
for folder in "$HOME"/*/bin/activate "$HOME"/venvs/*/bin/activate /opt/*/bin/activate; do
    [ ! -f "$folder" ] || [ -d "${folder%/bin/activate}/conda-meta" ] || echo "${folder%/bin/activate}"
done | offer venv
end_leftovers
echo "desk offers end"
