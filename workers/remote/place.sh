# Where the job lives: $scratch relative to the home folder unless absolute.
case "$scratch" in /*) ;; *) scratch="$HOME/$scratch" ;; esac
job="$scratch/$directory"
alive() { # is the recorded process still the same one, and no zombie?
    read -r pid born boot < "$job/pid" 2>/dev/null || return 1
    [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" ] || return 1
    stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 1
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    [ "$1" != Z ] && [ "${20}" = "$born" ]
}
members() { # processes of the job's session that still run
    read -r pid born boot < "$job/pid" 2>/dev/null || return 0
    [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" ] || return 0
    for entry in /proc/[0-9]*; do
        stat=$(cat "$entry/stat" 2>/dev/null) || continue
        # shellcheck disable=SC2086
        set -- ${stat##*) }
        [ "$4" = "$pid" ] && [ "$1" != Z ] && echo "${entry#/proc/}"
    done
}
