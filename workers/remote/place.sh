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
look_around() { # $running: of everything that runs ` session:process:parent `
    running=" "
    for entry in /proc/[0-9]*; do
        read -r stat 2>/dev/null < "$entry/stat" || continue
        # shellcheck disable=SC2086
        set -- ${stat##*) }
        [ "$1" = Z ] || running="$running$4:${entry#/proc/}:$2 "
    done
}
look_for_marks() { # $marks: ` process=directory ` of all whose environment names a job's folder
    marks=" "
    for entry in $(grep -aos 'DESK_JOB=desk-job-[0-9]*-[0-9]*-[0-9a-z]*' /proc/[0-9]*/environ); do
        entry=${entry#/proc/}
        marks="$marks${entry%%/*}=${entry##*=} "
    done
}
