#!/usr/bin/env bash
# Test on several processes, on one machine or on several as in dist_train.sh:
#   tools/dist_test.sh CONFIG CHECKPOINT N [arguments of test.py]
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: $0 CONFIG CHECKPOINT N [arguments of test.py]" >&2; exit 2; }
config=$1 checkpoint=$2 processes=$3
shift 3
exec "${PYTHON:-python}" -m openmix_dm.commands.dist_ranks "$processes" \
    "$(dirname "$0")/test.py" "$config" "$checkpoint" --launcher pytorch "$@"
