#!/usr/bin/env bash
# Start a Slurm of one node, for tests, without systemd and away from any Slurm of the machine:
#   tests/slurm/start_slurm.sh FOLDER        (as root; Debian's slurm-wlm and munge)
# Everything is below FOLDER; SLURM_CONF=FOLDER/slurm.conf makes Slurm's commands talk to it.
# tests/slurm/start_slurm.sh FOLDER stop ends it.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [stop]" >&2; exit 2; }
folder=$(mkdir -p "$1" && cd "$1" && pwd)
export SLURM_CONF=$folder/slurm.conf
PATH=$PATH:/usr/sbin:/sbin

stop() {
    for name in slurmd slurmctld munged; do
        if [ -s "$folder/$name.pid" ]; then kill "$(cat "$folder/$name.pid")" 2>/dev/null || true; fi
    done
}

if [ "${2:-}" = stop ]; then
    stop
    exit 0
fi
for program in munged slurmctld slurmd sbatch; do
    command -v "$program" >/dev/null || { echo "there is no $program: apt-get install slurm-wlm munge" >&2; exit 3; }
done
[ "$(id -u)" -eq 0 ] || { echo "only root can start slurmd" >&2; exit 3; }

host=$(hostname -s)
cores=8 # whatever the machine has: tests want room for tasks, not speed
port=$((30000 + $$ % 20000)) # not the ports of another Slurm
mkdir -p "$folder"/{state,spool,log}

# munge wants a folder that nobody else can write, and a key of its own
chmod 755 "$folder"
dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 status=none
chmod 600 "$folder/munge.key"
munged --force --key-file "$folder/munge.key" --socket "$folder/munge.socket" --pid-file "$folder/munged.pid" \
    --log-file "$folder/log/munged.log" --seed-file "$folder/munge.seed"

cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
# a job that was put back into the queue waits until the credentials of its first start are out of date
AuthInfo=socket=$folder/munge.socket,cred_expire=10
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2
JobRequeue=1
KillWait=30
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
MinJobAge=300
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8 PriorityTier=5
# jobs of the first two have to give way to those of the third, in one of them with some seconds to save
PartitionName=low Nodes=$host MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=graceful Nodes=$host MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=60
PartitionName=high Nodes=$host MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF
CONF

slurmctld
slurmd
for _ in $(seq 50); do
    if sinfo --noheader --format=%T 2>/dev/null | grep -q idle; then
        echo "$SLURM_CONF"
        exit 0
    fi
    sleep 0.2
done
echo "Slurm did not come up" >&2
tail -n 5 "$folder"/log/*.log >&2
stop
exit 4
