// A herd of agents, in a few processes.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { HerdTarget, Manners } from '../../support/agents/herd-agent.ts';
import { bundle } from '../../support/bundle.ts';
import type { Orders, Standing } from './worker.ts';

const PROCESSES = 3;
/** Agents are on other machines: here they leave the gateway the time that it needs (nice). */
const PRIORITY = 5;

export interface Herd {
  /** All of it, as it stood a moment ago. */
  standing(): Standing;
  stop(): Promise<void>;
}

/** Starts so many agents, all at once. */
export async function startHerd(count: number, manners: Manners, target: HerdTarget): Promise<Herd> {
  const program = await bundle('test/soak/herd/worker.ts', 'worker.js');
  const workers = Array.from({ length: PROCESSES }, (_, i) => {
    const first = Math.floor((count * i) / PROCESSES);
    return startWorker(program, { target, manners, first, count: Math.floor((count * (i + 1)) / PROCESSES) - first });
  });
  return {
    standing: () => workers.map(({ latest }) => latest()).reduce(sum),
    async stop() {
      await Promise.all(
        workers.map(async ({ child }) => {
          const exited = once(child, 'exit');
          child.stdin?.end();
          await exited;
        }),
      );
    },
  };
}

function startWorker(program: string, orders: Orders): { child: ChildProcess; latest(): Standing } {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, ORDERS: JSON.stringify(orders) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  setPriority(child.pid ?? 0, PRIORITY);
  let latest: Standing = { online: 0, failed: {}, lost: {}, toldWhen: 0, cpu: 0 };
  createInterface({ input: child.stdout }).on('line', (line) => {
    latest = JSON.parse(line);
  });
  return { child, latest: () => latest };
}

function sum(a: Standing, b: Standing): Standing {
  return {
    online: a.online + b.online,
    failed: sumOf(a.failed, b.failed),
    lost: sumOf(a.lost, b.lost),
    toldWhen: a.toldWhen + b.toldWhen,
    cpu: a.cpu + b.cpu,
  };
}

function sumOf(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const all = { ...a };
  for (const [key, count] of Object.entries(b)) all[key] = (all[key] ?? 0) + count;
  return all;
}
