#!/bin/bash
# bash tools/in_memory.sh COMMAND…: runs a command whose temporary files are in memory, where there is room for them.
# Tests write thousands of small files and databases that are synchronized with the disk, milliseconds each time. Without a memory
# file system that has 8 GB and may run programs, or 12 GB of free memory, temporary files are where they always are.
set -u
{ # read whole before it runs, so that an edit meanwhile does no harm
    room=/dev/shm
    free=$(df --output=avail --block-size=1M "$room" 2>/dev/null | tail -n 1)
    memory=$(awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo 2>/dev/null)
    if [[ "$(stat --file-system --format=%T "$room" 2>/dev/null)" == tmpfs && ${free:-0} -gt 8000 && ${memory:-0} -gt 12000 ]] &&
        folder=$(mktemp --directory "$room/tests-XXXXXX" 2>/dev/null); then
        trap 'rm -rf "$folder"' EXIT
        chmod 1777 "$folder" # as /tmp: PostgreSQL, which root cannot run, has a user of its own
        printf '#!/bin/sh\n' >"$folder/program"
        chmod +x "$folder/program"
        "$folder/program" 2>/dev/null && export TMPDIR="$folder"
    fi
    "$@"
    exit
}
