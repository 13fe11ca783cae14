# Where jobs live: $scratch relative to the home folder unless absolute.
case "$scratch" in /*) ;; *) scratch="$HOME/$scratch" ;; esac
job="$scratch/$directory"
line='
'
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
look_around() { # $running: of everything that runs ` session:process:parent:start `
    running=" "
    for entry in /proc/[0-9]*; do
        read -r stat 2>/dev/null < "$entry/stat" || continue
        # shellcheck disable=SC2086
        set -- ${stat##*) }
        [ "$1" = Z ] || running="$running$4:${entry#/proc/}:$2:${20} "
    done
}
split() { # $entry of $running
    start=${entry##*:} rest=${entry%:*}
    parent=${rest##*:} rest=${rest%:*}
    session=${rest%%:*} process=${rest#*:}
}
recall() { # $seen: ` process:start ` of all that earlier looks found of the job in $job
    seen=" "
    while read -r entry; do
        case "$entry" in *[!0-9:]*) ;; *) seen="$seen$entry " ;; esac
    done 2>/dev/null < "$job/seen"
    [ ${#seen} -lt 4000 ] || forget_ended_ones
}
forget_ended_ones() { # of $seen, which grows with every process that was there at a look
    entries=$seen seen=" "
    for entry in $entries; do
        read -r stat 2>/dev/null < "/proc/${entry%:*}/stat" || continue
        # shellcheck disable=SC2086
        set -- ${stat##*) }
        [ "${20}" != "${entry#*:}" ] || seen="$seen$entry "
    done
    # shellcheck disable=SC2086
    { printf '%s\n' $seen > "$job/seen.$$" && mv "$job/seen.$$" "$job/seen"; } 2>/dev/null
}
look_for_marks() { # $marks: ` process=directory ` of all whose environment names a job's folder
    marks=" "
    for entry in $(exec grep -aos 'DESK_JOB=desk-job-[0-9]*-[0-9]*-[0-9a-z]*' /proc/[0-9]*/environ); do
        entry=${entry#/proc/}
        marks="$marks${entry%%/*}=${entry##*=} "
    done
}
