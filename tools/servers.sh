#!/usr/bin/env bash
# The converter's tests talk to a real MariaDB (or MySQL) server, which they start themselves. PostgreSQL comes from PyPI.
set -euo pipefail

if command -v mariadbd mysqld >/dev/null || [ -x /usr/sbin/mariadbd ] || [ -x /usr/sbin/mysqld ]; then
    exit 0
fi
install="apt-get update && apt-get install -y --no-install-recommends mariadb-server"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    echo "installing a MariaDB server for the tests"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends mariadb-server >/dev/null && exit 0
fi
echo "The tests need a MariaDB or MySQL server on this machine; as root run:  $install" >&2
exit 1
