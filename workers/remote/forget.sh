# Removes kept inputs that no job has asked for in so many days, and what never became whole.
forget() { # days
    cd "$scratch/.desk-inputs" 2>/dev/null || return 0
    find . -maxdepth 1 -name '*.sums' -mtime "+$1" | while read -r sums; do
        rm -rf -- "${sums%.sums}" "$sums"
    done
    find . -maxdepth 1 \( -name '*.part-*' -o -name '*.new-*' \) -mtime "+$1" -exec rm -rf -- {} +
    echo "desk forgotten"
}
