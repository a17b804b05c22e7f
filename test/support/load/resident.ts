// How much memory a process takes, as Linux counts it.

import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { root } from '../root.ts';

const KB = 1024;

export interface Resident {
  /** Of its own, in MB. */
  own: number;
  /** Of files, which processes share; in MB. */
  files: number;
  /** Both, now and at most, in MB. */
  now: number;
  most: number;
}

/** @returns undefined when there is no such process any more. */
export function residentOf(pid: number): Resident | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / KB;
    return { own: mb('RssAnon'), files: mb('RssFile'), now: mb('VmRSS'), most: mb('VmHWM') };
  } catch {
    return undefined;
  }
}

/** All that a process started, and what those did, in MB: what a container's limit would count. */
export function residentBelow(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended.
    }
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === root || (parent > 1 && isBelow(parent));
  };
  const all = [...parents.keys()].filter(isBelow).flatMap((pid) => residentOf(pid) ?? []);
  return all.reduce((sum, { own }) => sum + own, 0) + Math.max(0, ...all.map(({ files }) => files));
}

/** What `npm start` sets for the gateway's process, its options of Node included. */
export async function startEnvironment(): Promise<Record<string, string>> {
  const { scripts } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'));
  const variables = [...scripts.start.matchAll(/(\w+)=(\S+) /g)].map(([, name, value]) => [name, value]);
  const options = [...scripts.start.matchAll(/ (--\S+)/g)].map(([, option]) => option);
  return Object.fromEntries([...variables, ['NODE_OPTIONS', options.join(' ')]]);
}
