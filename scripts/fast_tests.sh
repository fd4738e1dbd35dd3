#!/bin/sh
# Runs tests, many at once; where a few fail, those once more, one by one.
#
# Thousands of tests of processes, clocks and sockets share two cores with whatever else the machine does, and now and then one of
# them is starved. Alone it says what is true of the code: what fails there, too, fails the run. What holds there is told with its
# first failure, and is a fault of the test that is to be mended. Where more than a few fail, nothing is tried again.
#
#     scripts/fast_tests.sh PYTHON TESTS_AT_ONCE [pytest's arguments]
set -u

python=$1
at_once=$2
shift 2
few=5

kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT

run_tests() {
  "$python" -m pytest -q -o cache_dir="$kept" "$@"
}

count_failed() {
  "$python" -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' "$kept/v/cache/lastfailed"
}

if [ "$at_once" = 0 ]; then
  run_tests "$@"
  exit
fi

# Tests go to a process in the order of their files, and one that has none left takes over from the end of another's.
run_tests -n "$at_once" --dist worksteal "$@"
status=$?
[ "$status" = 1 ] || exit "$status"  # all passed, or it came to no end

failed=$(count_failed) || exit "$status"
[ "$failed" -le "$few" ] || exit "$status"
echo "$failed failed beside others, as told above. Run again, one by one:"
run_tests --last-failed --last-failed-no-failures none "$@"
status=$?
[ "$status" != 0 ] || echo "Held alone: $failed. Beside others they failed, which is a fault of theirs."
exit "$status"
