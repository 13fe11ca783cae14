# Set-up of a job's command. What is missing or fails ends the job with a line that names it.
fail() { echo "desk runtime: $*" >&2; trap - EXIT; exit 78; }
begin() { # script: nothing is sourced unless it is there; one that ends the shell is named
    step=$1
    [ -f "$1" ] || fail "script-missing $1"
    [ -r "$1" ] || fail "script-unreadable $1"
    trap 'fail "script-ended $? $step"' EXIT
}
end() { # status of the script; options that it set for the shell do not outlive it
    trap - EXIT
    set +e +u
    [ "$1" = 0 ] || fail "script-failed $1 $step"
}
find_conda() { # folder, empty for the usual ones
    for root in "$1" "${CONDA_EXE%/bin/conda}" "$HOME"/miniconda3 "$HOME"/anaconda3 \
        "$HOME"/miniforge3 "$HOME"/mambaforge /opt/conda /opt/miniconda3 /opt/anaconda3 \
        /usr/local/miniconda3 /usr/local/anaconda3 /root/miniconda3 /root/anaconda3
    do
        [ -z "$root" ] || [ ! -f "$root/etc/profile.d/conda.sh" ] || { conda=$root; return; }
        [ -z "$1" ] || fail "conda-missing $1"
    done
    fail "conda-missing"
}
find_modules() { # start file, empty for the usual ones
    [ -n "$1" ] || ! command -v module > /dev/null 2>&1 || return 0
    for init in "$1" "$MODULESHOME/init/sh" /usr/share/modules/init/sh /usr/share/Modules/init/sh \
        /etc/profile.d/modules.sh /usr/share/lmod/lmod/init/sh /etc/profile.d/lmod.sh
    do
        [ ! -f "$init" ] || { . "$init"; return 0; }
        [ -z "$1" ] || fail "modules-missing $1"
    done
    fail "modules-missing"
}
load_module() { # some releases of `module` say nothing of a failure
    module load "$1" || fail "module-failed $1"
    case ":$LOADEDMODULES:" in *":$1:"* | *":$1/"*) ;; *) fail "module-failed $1" ;; esac
}
