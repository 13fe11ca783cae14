"""The scripts that run on a node: plain POSIX sh with coreutils or busybox."""

import hashlib
import secrets
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
SAMPLE_MARK = f"desk sample {secrets.token_hex(8)}"  # no job can print it into its log
EACH_CARD_SECONDS = 600  # between two looks that ask each card for its memory errors and its port


def quote(argument: str) -> str:
    """One shell word; a leading ~/ becomes the login's home folder."""
    if argument == "~":
        return '"$HOME"'
    if argument.startswith("~/"):
        return '"$HOME"/' + (shlex.quote(argument[2:]) if argument[2:] else "")
    return shlex.quote(argument)


@dataclass(frozen=True)
class Place:
    """A job's folder on a node, and the process the desk remembers for it (pid, start, boot).

    `in_container` says that the command runs in a container, which is looked into as well.
    """

    scratch: str
    directory: str
    known: tuple[str, ...] = ()
    in_container: bool = False

    def text(self) -> str:
        """The lines that every script begins with."""
        return (f"scratch={quote(self.scratch)}\ndirectory={quote(self.directory)}\n"
                f"known={shlex.quote(' '.join(self.known))}\n{_read('place.sh')}")


def poll_script(starts: list[tuple[Place, str]], polls: list[tuple[Place, int, int]],
                 files_of: Collection[str] = (), sample_seconds: int = 0) -> str:
    """Script that starts jobs, at most once ever each, and asks for states.

    Args:
        starts: place and text of the command.
        polls: place, and offset and limit of the log's part that is wanted; jobs that are started
            may be among them.
        files_of: directories of `polls` whose files are listed if the job has ended.
        sample_seconds: between two looks at the cards; 0 for none. What an earlier look found
            comes last, behind SAMPLE_MARK.
    All places lie in the same scratch folder. First comes one line `desk start` per job of
    `starts`, then per job of `polls` its state and its log from there on, then the files as
    `list_script` prints them.
    """
    place = (starts[0] if starts else polls[0])[0]
    sample = (f"{_read('sample.sh')}sample {shlex.quote(SAMPLE_MARK)} {sample_seconds} "
              f"{EACH_CARD_SECONDS}\n")
    return (place.text() + (_starts(starts) if starts else "")
            + (_polls(polls, files_of) if polls else "")
            + (sample if polls and sample_seconds else "") + "exit 0\n")


def _starts(starts: list[tuple[Place, str]]) -> str:
    """All starts stand in a function: of a script that arrives cut short, nothing is run."""
    directories = " ".join(quote(place.directory) for place, _command in starts)
    launches = [f"launch {quote(place.directory)} {shlex.quote(command)}\n"
                for place, command in starts]
    return (f"{start_functions()}start_all() {{\nprepare {directories}\n"
            # It ends when each wrapper has let go; by then what ends at once mostly has.
            "told=$(\n" + "".join(launches)
            + '[ -n "$refused" ] || exec sleep 0.05 2>/dev/null\n)\n'
            '[ -z "$told" ] || echo "$told"\n'
            f'for directory in {directories}; do tell "$directory"; done\n'
            f"wait_for_short_ones {directories}\n}}\nstart_all\n")


@cache
def _wrapper() -> str:
    """The lines that name the wrapper after its content, and hold it."""
    return named_after_content("wrapper", _read("wrapper.sh"))


def named_after_content(name: str, text: str) -> str:
    """The lines that set `name` to the file to be installed on the node, and `name_text` to what
    it holds."""
    return (f'{name}="$scratch"/{file_named_after_content(name, text)}\n'
            f'{name}_text={shlex.quote(text.rstrip())}\n')


def file_named_after_content(name: str, text: str) -> str:
    """The file of the scratch folder under which such a text is installed."""
    return f".desk-{name}-{hashlib.sha256(text.rstrip().encode()).hexdigest()[:16]}"


def wrapper_file() -> str:
    """The file of the scratch folder that is the wrapper."""
    return file_named_after_content("wrapper", _read("wrapper.sh"))


def _polls(polls: list[tuple[Place, int, int]], files_of: Collection[str]) -> str:
    calls = [" ".join(["look", quote(place.directory), str(int(offset)), str(int(limit)),
                       "files" if place.directory in files_of else "none",
                       *map(shlex.quote, place.known)])
             for place, offset, limit in polls]
    functions = poll_functions(any(place.in_container for place, _offset, _limit in polls))
    return "\n".join([functions + calls[0], *calls[1:],
                      "report_all\n"])


def start_functions() -> str:
    """The shell functions of starts and the wrapper's text, for starts by other means."""
    return _read("start.sh") + _wrapper()


def poll_functions(with_containers: bool = False) -> str:
    """The shell functions of polls, for those that learn by other means what runs."""
    return _read("list.sh") + _read("poll.sh") + (_containers() if with_containers else "")


def survivor_functions(with_containers: bool = False) -> str:
    """The shell functions that look for what of a job runs on this machine, and in a container."""
    return _read("survivors.sh") + (_containers() if with_containers else "")


def _containers() -> str:
    """The shell functions of jobs in containers, and the texts that are run inside."""
    texts = {"inside_text": _read("place.sh") + _read("survivors.sh"),
             "cancel_text": _read("fence.sh") + _read("cancel.sh")}
    return _read("containers.sh") + "".join(
        f"{name}={shlex.quote(text)}\n" for name, text in texts.items())


def container_functions() -> str:
    """The same for a job's command, which starts the container and sees it end."""
    return _read("survivors.sh") + _containers()


def cancel_lines(signal: str) -> str:
    """The lines that signal what is found, after `survivor_functions`."""
    return f"signal={shlex.quote(signal)}\n{_read('fence.sh')}{_read('cancel.sh')}"


def fence_script(place: Place) -> str:
    """Script that keeps a job which has not started from ever starting."""
    return f'{place.text()}{_read("fence.sh")}echo "desk fenced"\n'


def cancel_script(place: Place, signal: str) -> str:
    """Script that signals all that the job started and says what is left.

    A job that has not started yet can never start afterwards.
    """
    return place.text() + survivor_functions(place.in_container) + cancel_lines(signal)


def survivors_script(place: Place, has_cards: bool) -> str:
    """Script that says what of the job runs and, for one that had cards, what npu-smi shows."""
    return (place.text() + survivor_functions(place.in_container) + "members\ntell_survivors\n"
            + ("tell_cards\n" if has_cards else ""))


def list_script(places: list[Place]) -> str:
    """Script that prints size and name of all files of the jobs' work folders."""
    directories = " ".join(quote(place.directory) for place in places)
    return f"{places[0].text()}{_read('list.sh')}files {directories}\n"


def fits_on_a_line(name: str) -> bool:
    """Whether checksum tools print the name as it is."""
    return not set(name) & set("\n\r\\")


def digest_script(place: Place, names: list[str]) -> str:
    """Script that prints the SHA-256 of files of the work folder.

    First `desk sha256 …` for each name that does not fit on a line, in order; then, for all the
    others, lines as `sha256sum` prints them: checksum, two spaces, `./` and the name.
    """
    return place.text() + digest_lines(names)


def digest_lines(names: list[str]) -> str:
    """The lines that do so, in the job's work folder or in $folder."""
    odd = [name for name in names if not fits_on_a_line(name)]
    plain = [shlex.quote("./" + name) for name in names if fits_on_a_line(name)]
    return (_read("digest.sh")
            + "".join(f"digest {shlex.quote('./' + name)}\n" for name in odd)
            + (f"digests {' '.join(plain)}\n" if plain else ""))


def pack_script(place: Place, names: list[str]) -> str:
    """Script that writes a tar archive of files of the work folder to standard output."""
    files = " ".join(shlex.quote("./" + name) for name in names)
    return place.text() + f'echo "$data_mark" && cd "$job/work" && exec tar -cf - -- {files}\n'


def read_script(place: Place, name: str, offset: int = 0) -> str:
    """Script that writes one file of the work folder to standard output, from an offset on."""
    file = shlex.quote("./" + name)
    command = f"tail -c +{offset + 1} -- {file}" if offset else f"cat -- {file}"
    return place.text() + f'echo "$data_mark" && cd "$job/work" && exec {command}\n'


def log_script(place: Place, offset: int, limit: int) -> str:
    """Script that writes a part of the job's log to standard output."""
    return (place.text() + 'echo "$data_mark" && '
            f'tail -c +{int(offset) + 1} -- "$job/log" | head -c {int(limit)}\n')


def unread_script(place: Place, names: list[str]) -> str:
    """Script that says which files and folders of the work folder cannot be read, and why."""
    words = " ".join(map(shlex.quote, names))
    return f"{place.text()}{_read('unread.sh')}unread {words}\n"


def remove_script(place: Place) -> str:
    """Script that removes the job's files and keeps the proof that it was started."""
    return place.text() + _read("remove.sh")


def trial_script(scratch: str) -> str:
    """Script that tries what a node must be able to do before it gets jobs."""
    return (Place(scratch, "").text() + start_functions() + _read("survivors.sh")
            + _read("trial.sh"))


def usage_script(scratch: str) -> str:
    """Script that prints the megabytes used by jobs and those that are free."""
    return Place(scratch, "").text() + _read("usage.sh")


def part_of_script(name: str) -> str:
    """The text of a file of this folder."""
    return _read(name)


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text()
