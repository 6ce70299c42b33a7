#!/usr/bin/env bash
# The tests talk to a real MariaDB (or MySQL) server, which they start themselves, reach databases through real ODBC drivers, open
# pages in a real Chromium, and run a Spark on this machine, which needs Java 17 or newer. They run the proxies of deploy/ and let
# systemd judge its unit.
# PostgreSQL comes from PyPI.
set -euo pipefail

need() { # what it is, its package, and commands of which one is enough
    local what=$1 package=$2 name
    shift 2
    for name in "$@"; do
        if command -v "$name" >/dev/null || [ -x "/usr/sbin/$name" ]; then return 0; fi
    done
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        export DEBIAN_FRONTEND=noninteractive
        echo "installing $what for the tests"
        apt-get update -qq && apt-get install -y -qq --no-install-recommends "$package" >/dev/null && return 0
    fi
    echo "The tests need $what on this machine; as root run:  apt-get update && apt-get install -y --no-install-recommends $package" >&2
    return 1
}

need_driver() { # the file of an ODBC driver, and its package
    if [ -n "$(find /usr/lib /usr/local/lib -name "$1" -print -quit 2>/dev/null)" ]; then return 0; fi
    need "the ODBC driver $1" "$2"
}

missing=0
need "a MariaDB or MySQL server" mariadb-server mariadbd mysqld || missing=1
need "the browser Chromium" chromium chromium chromium-browser google-chrome google-chrome-stable || missing=1
need "Java (17 or newer)" default-jre-headless java || missing=1
need "nginx" nginx nginx || missing=1
need "Caddy" caddy caddy || missing=1
need "systemd-analyze" systemd systemd-analyze || missing=1
need "openssl" openssl openssl || missing=1
need "curl" curl curl || missing=1
need_driver libodbc.so.2 unixodbc || missing=1
need_driver psqlodbcw.so odbc-postgresql || missing=1
need_driver libmaodbc.so odbc-mariadb || missing=1
need_driver libsqlite3odbc.so libsqliteodbc || missing=1
exit $missing
