#!/usr/bin/env bash
# Train on several processes of one machine, a GPU each (or CPU cores where there is none):
#   tools/dist_train.sh CONFIG N [arguments of train.py]
# On several machines set NNODES, NODE_RANK and MASTER_ADDR (and PORT) on each of them.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 CONFIG N [arguments of train.py]" >&2; exit 2; }
config=$1 processes=$2
shift 2
exec "${PYTHON:-python}" -m openmix_dm.commands.dist_ranks "$processes" \
    "$(dirname "$0")/train.py" "$config" --launcher pytorch "$@"
