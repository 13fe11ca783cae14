# Makes sure that a job which does not run yet never will.
if [ ! -f "$job/pid" ] && [ -z "$known" ]; then
    mkdir -p "$job" 2>/dev/null
    echo "0 0 fenced" > "$job/pid.$$" && ln "$job/pid.$$" "$job/pid" 2>/dev/null
    rm -f "$job/pid.$$"
fi
