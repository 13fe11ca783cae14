# Further logs of a job: what files there are, and parts of them. A file is known by its inode, as
# rotation renames it.
list_logs() { # as arguments of find
    cd "$job/work" 2>/dev/null || { printf 'desk tree 0\n\0'; exit 0; }
    printf 'desk tree 0\n'
    facts_of -type f "$@"
}
part() { # name, inode, offset, limit: the file's part, if it is still that file
    more=0
    if [ "$(stat -c %i -- "$1" 2>/dev/null)" = "$2" ]; then
        more=$(($(wc -c < "$1") - $3))
        [ $more -lt 0 ] && more=0
        [ $more -gt "$4" ] && more=$4
    fi
    printf 'desk part %s\n' "$more"
    [ $more -gt 0 ] && tail -c "+$(($3 + 1))" -- "$1" | head -c "$more"
}
