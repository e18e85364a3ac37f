#!/usr/bin/env bash
# Test on a Slurm cluster and wait for the result; --dry-run prints the command instead:
#   tools/slurm_test.sh PARTITION JOB CONFIG CHECKPOINT [arguments of test.py] [--dry-run]
# GPUS, GPUS_PER_NODE, CPUS_PER_TASK, TASKS as for slurm_train.sh; SRUN_ARGS for the rest.
set -euo pipefail
[ $# -ge 4 ] || { echo "usage: $0 PARTITION JOB CONFIG CHECKPOINT [arguments of test.py]" >&2; exit 2; }
exec "${PYTHON:-python}" -m openmix_dm.commands.slurm_job test "$@"
