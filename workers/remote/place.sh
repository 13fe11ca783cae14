# Where jobs live: $scratch relative to the home folder unless absolute.
case "$scratch" in /*) ;; *) scratch="$HOME/$scratch" ;; esac
job="$scratch/$directory"
read -r this_boot < /proc/sys/kernel/random/boot_id 2>/dev/null || this_boot=
identify() { # the process that runs the job: from its folder, or else as the desk remembers it
    pid= born= boot=
    read -r pid born boot 2>/dev/null < "$job/pid" || { set -- $known; pid=$1 born=$2 boot=$3; }
    [ -n "$pid" ] && [ "$boot" = "$this_boot" ]
}
alive() { # is it still the same process, and no zombie?
    identify && read -r stat 2>/dev/null < "/proc/$pid/stat" || return 1
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    [ "$1" != Z ] && [ "${20}" = "$born" ]
}
look_around() { # $running: session and process of everything that runs, as ` session:process `
    running=" "
    for entry in /proc/[0-9]*; do
        read -r stat 2>/dev/null < "$entry/stat" || continue
        # shellcheck disable=SC2086
        set -- ${stat##*) }
        [ "$1" = Z ] || running="$running$4:${entry#/proc/} "
    done
}
members() { # $found: processes of the job's session that still run
    found=
    identify || return 0
    look_around
    for entry in $running; do
        case "$entry" in "$pid":*) found="$found ${entry#*:}" ;; esac
    done
}
