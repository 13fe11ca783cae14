# What a cluster is: version, partitions with their cards, whether it keeps accounts.
version=$(timeout 20 sinfo --version 2>&1) || { echo "desk slurm-away $version"; exit 0; }
rows=$(timeout 20 sinfo --noheader --format='desk partition %P|%a|%D|%T|%l|%G' 2>&1) \
    || { echo "desk slurm-away $(echo "$rows" | tr '\n' ' ')"; exit 0; }
echo "desk version $version"
echo "$rows"
timeout 20 sacct --noheader --parsable2 --allocations --format=JobIDRaw > /dev/null 2>&1 \
    && echo "desk accounting yes" || echo "desk accounting no"
command -v sbatch > /dev/null 2>&1 || echo "desk slurm-away sbatch is not found"
