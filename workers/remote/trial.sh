# What a node must be able to do before it gets jobs; after `remote/start.sh`: a file is written and
# renamed where jobs live. Then its clock, and what npu-smi shows.
try_folder() {
    tried="$scratch/.desk-tried-$$" word=
    { echo tried > "$tried.new" && mv "$tried.new" "$tried" && read -r word < "$tried"; } 2>/dev/null
    [ "$word" = tried ] || refused=not_writable
    rm -f "$tried" "$tried.new"
}
refusal
[ -n "$refused" ] || try_folder
echo "desk tried ${refused:-yes} $(date +%s)"
tell_cards
