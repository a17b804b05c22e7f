// How many cores the processes of the gateway may use.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The limit of the control group, as containers have it (cgroup v2, `cpu.max`). */
const QUOTA_FILE = '/sys/fs/cgroup/cpu.max';

/** The cores that this process may use: those of the machine, or fewer where a container has less. At least 1. */
export function usableCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor(coresOfQuota(readQuota()))));
}

/**
 * The cores that a quota allows. Older versions of Node do not look at it.
 * @param text `max 100000`, or the microseconds in each period, and the length of the period: `150000 100000`.
 * @returns Infinity without a quota.
 */
export function coresOfQuota(text: string): number {
  const [quota = 'max', period = ''] = text.trim().split(/\s+/);
  const cores = Number(quota) / Number(period);
  return quota !== 'max' && cores > 0 ? cores : Number.POSITIVE_INFINITY;
}

function readQuota(): string {
  try {
    return readFileSync(QUOTA_FILE, 'utf8');
  } catch {
    return ''; // Another system, or no control groups of this kind.
  }
}

/** From so many cores on, the default is several processes. */
const CORES_FOR_WORKERS = 4;

/** How many processes carry visitors and agents. @param given what the operator said; undefined: nothing. */
export function workersOf(given: number | 'auto' | undefined): number {
  const cores = usableCores();
  if (given === undefined) return cores >= CORES_FOR_WORKERS ? cores : 1;
  return given === 'auto' ? cores : given;
}
