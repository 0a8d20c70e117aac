# Ends what a test started and removes its directory, also after SIGKILL of the test.
#   $1 directory to remove, with the process in it to end (its file `process`: pid and signal)
#   $2 directory of the run, or nothing
#   $3 seconds without any client after which a shared server ends
# Its standard input is a pipe from the process that started it. The end of the pipe means that
# this process is gone; the word `shared` means that the server belongs to the run from now on.
trap '' HUP INT QUIT TERM
PATH="${PATH:-}:/usr/sbin:/usr/bin:/sbin:/bin"
dir=$1 run=$2 grace=$3

# A process id may have been given to somebody else: ours work inside the directory.
ours() {
    kill -0 "$1" 2>/dev/null || return 1
    [ -e /proc/self/cwd ] || return 0
    case "$(readlink "/proc/$1/cwd")" in
    "$dir" | "$dir"/*) return 0 ;;
    *) return 1 ;;
    esac
}

children() {
    cat "/proc/$1/task/$1/children" 2>/dev/null || pgrep -P "$1"
}

send() {
    how=$1
    shift
    for target in "$@"; do kill -s "$how" -- "$target" 2>/dev/null; done
}

end_process() {
    read -r pid polite <"$dir/process" || return
    ours "$pid" || return
    # Politely first: a killed server would leave its shared memory segment behind. The group is
    # meant for initdb, whose helpers are in it; a paused process must wake to hear it.
    send "$polite" "-$pid"
    send CONT "-$pid" $(children "$pid")
    tries=0
    while ours "$pid" && [ "$tries" -lt 30 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    if ours "$pid"; then
        send STOP "$pid"
        send KILL "-$pid" $(children "$pid")
    fi
}

# The segment of a server which was killed: line 7 of its lock file names it.
free_memory() {
    segment=$(sed -n '7s/^ *[0-9]* *\([0-9]*\) *$/\1/p' "$dir/data/postmaster.pid" 2>/dev/null)
    [ -n "$segment" ] && ipcrm -m "$segment" 2>/dev/null
}

remove() {
    [ -n "$dir" ] || return
    tries=0
    while [ -e "$dir" ] && [ "$tries" -lt 50 ]; do
        end_process 2>/dev/null
        free_memory
        rm -rf -- "$dir" 2>/dev/null
        # Something that was just being started may have put a file there meanwhile.
        [ -e "$dir" ] && sleep 0.1
        tries=$((tries + 1))
    done
}

# The databases of the run on a server that was there before and stays.
drop_databases() {
    [ -n "${SCRATCH_DROP_PREFIX:-}" ] || return
    printf '%s\n' "select format('drop database if exists %I with (force)', datname)" \
        "from pg_database where starts_with(datname, :'prefix') \\gexec" |
        "$SCRATCH_PSQL" -X -q -v "prefix=$SCRATCH_DROP_PREFIX" -d "$SCRATCH_DROP_URL"
}

shared=no
if read -r word && [ "$word" = shared ]; then
    shared=yes
    exec 9>>"$run/clients.lock"
    idle=0
    while :; do
        sleep 1
        if flock -n -x 9; then
            idle=$((idle + 1))
            # The lock is kept: who comes now waits for the end and then starts anew.
            [ "$idle" -ge "$grace" ] && break
            flock -u 9
        else
            idle=0
        fi
    done
fi

remove
[ "$shared" = yes ] && drop_databases
if [ -n "$run" ]; then
    # Who was killed while starting leaves the run to the others who wait, if there are any.
    [ "$shared" = yes ] || exec 9>>"$run/clients.lock"
    flock -n -x 9 && [ "$run/clients.lock" -ef /dev/fd/9 ] && rm -rf -- "$run"
fi
