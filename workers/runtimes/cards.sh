# The leased cards as the container counts them: by their place among the devices that it has.
show_cards() { # devices of the runtime
    [ -n "$cards" ] || return 0
    [ "$1" != none ] || { export ASCEND_RT_VISIBLE_DEVICES="$cards"; return 0; }
    there=$(cd /dev && for name in davinci[0-9]*; do echo "${name#davinci}"; done | sort -n)
    visible=
    for card in $(echo "$cards" | tr ',' ' '); do
        position=0 found=
        for each in $there; do
            [ "$each" != "$card" ] || found=$position
            position=$((position + 1))
        done
        [ -n "$found" ] || { echo "desk runtime: card-missing $card" >&2; exit 78; }
        visible="$visible${visible:+,}$found"
    done
    export ASCEND_RT_VISIBLE_DEVICES="$visible"
}
