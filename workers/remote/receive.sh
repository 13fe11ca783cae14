# Keeps inputs of jobs: each under the name of its content, whole or not at all. What arrives is
# kept apart per job until its checksums are compared, so that a cut transfer goes on later.
umask 077
store="$scratch/.desk-inputs"
mkdir -p "$store" 2>/dev/null && [ -w "$store" ] || { echo "desk refused not_writable"; exit 0; }
here="$store/$name" sums="$store/$name.sums" part="$store/$name.part-$directory" new="$store/$name.new-$directory"
if command -v sha256sum >/dev/null 2>&1; then tool=sha256sum
elif command -v busybox >/dev/null 2>&1; then tool="busybox sha256sum"
elif command -v shasum >/dev/null 2>&1; then tool="shasum -a 256"
else echo "desk refused no_sha256"; exit 0; fi
is_right() { # folder, list of checksums
    (cd "$1" && $tool -c "$2") >/dev/null 2>&1
}
is_here() { # what changed since it was compared is compared again
    [ -d "$here" ] && [ -f "$sums" ] || return 1
    [ -z "$(find "$here" -type f -newer "$sums" 2>/dev/null | head -n 1)" ] || is_right "$here" "$sums"
}
ask() { # whether it is here; else how many bytes are, and how many kilobytes are free
    if is_here; then touch "$sums"; echo "desk input here"; return; fi
    rm -rf -- "$here" "$sums"
    size=0; [ -f "$part" ] && size=$(($(wc -c < "$part")))
    # shellcheck disable=SC2046
    set -- $(LC_ALL=C df -Pk "$store" 2>/dev/null | tail -n 1)
    echo "desk input part $size ${4:-0}"
}
receive() { # offset: appends what comes on standard input
    size=0; [ -f "$part" ] && size=$(($(wc -c < "$part")))
    [ "$size" = "$1" ] || { echo "desk input part $size 0"; return; }
    cat >> "$part" || { echo "desk refused no_space"; return; }
    echo "desk input part $(($(wc -c < "$part"))) 0"
}
finish() { # name of the only file, or nothing for a tar archive; the checksums come as input
    rm -rf -- "$new" && mkdir "$new" && cat > "$new.sums" || { echo "desk refused no_space"; return; }
    if [ -n "$1" ]; then mv -- "$part" "$new/$1"; else tar -xf "$part" -C "$new"; fi \
        || { rm -rf -- "$new" "$new.sums" "$part"; echo "desk refused no_space"; return; }
    if ! is_right "$new" "$new.sums"; then
        rm -rf -- "$new" "$new.sums" "$part"; echo "desk input damaged"; return
    fi
    find "$new" -type f -exec chmod a-w {} +
    if is_here; then rm -rf -- "$new" "$new.sums"; else
        rm -rf -- "$here"; mv -- "$new" "$here" && mv -- "$new.sums" "$sums" && touch "$sums"
    fi
    rm -f -- "$part"
    echo "desk input here"
}
place() { # slot, name, `file` or `folder`: into the job's folder, as hard links where they work
    target="$job/inputs/$1"
    rm -rf -- "$target"; mkdir -p -- "$target" || { echo "desk refused not_writable"; return; }
    if [ "$3" = file ]; then from="$here/$2"; else from="$here"; fi
    if ! cp -al -- "$from" "$target/$2" 2>/dev/null; then
        rm -rf -- "${target:?}/$2"; cp -a -- "$from" "$target/$2" || { echo "desk refused no_space"; return; }
    fi
    echo "desk placed"
}
link_to() { # slot, name, path: what is used where it lies
    target="$job/inputs/$1"
    rm -rf -- "$target"; mkdir -p -- "$target" && ln -s -- "$3" "$target/$2" \
        || { echo "desk refused not_writable"; return; }
    echo "desk placed"
}
