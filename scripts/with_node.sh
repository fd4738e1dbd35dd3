#!/bin/sh
# Runs a command with a Node on its PATH that can build the page: the machine's own, where it is new enough and has npm, or one from
# the hash-pinned wheels of requirements/node.txt, in build/node.
#
#     scripts/with_node.sh npm ci
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
node_env=$root/build/node

new_enough() {
  "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)' \
    >/dev/null 2>&1
}

fetch_node() {
  echo "Fetching Node into build/node: this machine has none, or one that is too old to build the page" >&2
  python=${PYTHON:-python3}
  "$python" -m venv --clear "$node_env" >&2
  "$node_env/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --require-hashes \
    -r "$root/requirements/node.txt" >&2
}

if ! { new_enough node && command -v npm >/dev/null; }; then
  new_enough "$node_env/bin/node" || fetch_node
  PATH=$node_env/bin:$PATH
  export PATH
fi
exec "$@"
