# Which files and folders of the work folder cannot be read. Of each `mode owner:group`, what the
# tool said and the name, each ended by NUL.
LC_ALL=C; export LC_ALL
unread() { # names
    echo "desk unread"
    for name; do
        path="$job/work/$name"; path=${path%/.}
        if [ -d "$path" ]; then said=$({ ls -- "$path" && cd -- "$path"; } 2>&1 >/dev/null) && continue
        else said=$(cat -- "$path" 2>&1 >/dev/null) && continue; fi
        read -r mode _ owner group _ <<END
$(ls -ld -- "$path" 2>/dev/null)
END
        printf '%s %s:%s\0%s\0%s\0' "$mode" "$owner" "$group" "${said##*: }" "$name"
    done
    printf 'end\0'
}
