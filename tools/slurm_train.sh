#!/usr/bin/env bash
# Queue a training on a Slurm cluster; --dry-run prints the script instead:
#   tools/slurm_train.sh PARTITION JOB CONFIG [WORK_DIR] [arguments of train.py] [--dry-run]
# GPUS=8 GPUS_PER_NODE=8 CPUS_PER_TASK=5 by default; GPUS=0 TASKS=2 for processes without a GPU; SBATCH_ARGS for the rest.
# A job that is preempted or meets its time limit saves, goes back into the queue and goes on where it was.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: $0 PARTITION JOB CONFIG [WORK_DIR] [arguments of train.py]" >&2; exit 2; }
exec "${PYTHON:-python}" -m openmix_dm.commands.slurm_job train "$@"
