#!/bin/bash
#SBATCH --job-name=fedsim
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=8
#SBATCH --time=2:00:00
#SBATCH --requeue --open-mode=append
# One run as a job that may be interrupted at any time:
#
#   sbatch packaging/slurm/run.sh my.yaml [OPTIONS OF fedsim run]
#
# If its node is lost, or it is submitted again after its time was over, it resumes; the result has the same bytes.
set -euo pipefail
scenario=$1
shift
name=$(basename "$scenario")
result=results/${name%.*}.h5
threads=(--threads "${SLURM_CPUS_PER_TASK:-1}")
if [ -e "$result.run/run.json" ]; then
  exec fedsim resume "$result" "${threads[@]}"
fi
exec fedsim run "$scenario" --output "$result" "${threads[@]}" "$@"
