// A process with a part of the herd: `node worker.js` with its orders as JSON in ORDERS. It says how it stands a few times a
// second, a line of JSON each, until its standard input ends.

import { HerdAgent, type HerdTarget, type Manners } from '../../support/agents/herd-agent.ts';

export interface Orders {
  target: HerdTarget;
  manners: Manners;
  /** Which agents of the herd these are. */
  first: number;
  count: number;
}

/** All since the start, but for `online`, which is now. */
export interface Standing {
  online: number;
  /** Attempts that came to nothing, by step and why; sessions that were lost, by why. */
  failed: Record<string, number>;
  lost: Record<string, number>;
  /** Refusals that said when to come back. */
  toldWhen: number;
  /** CPU time; seconds. */
  cpu: number;
}

const EVERY_MS = 100;

const { target, manners, first, count } = JSON.parse(process.env.ORDERS ?? '') as Orders;
const standing: Standing = { online: 0, failed: {}, lost: {}, toldWhen: 0, cpu: 0 };
const add = (counts: Record<string, number>, key: string) => {
  counts[key] = (counts[key] ?? 0) + 1;
};
const events = {
  onOnline: () => void standing.online++,
  onLost(why: string) {
    standing.online--;
    add(standing.lost, why);
  },
  onFailed(step: string, why: string, retryAfter: number | undefined) {
    add(standing.failed, `${step}: ${why.replace(/tn_\w+|"[^"]*"/g, '…')}`);
    if (retryAfter !== undefined) standing.toldWhen++;
  },
};
const agents = Array.from(
  { length: count },
  (_, i) => new HerdAgent(target, `herd-${first + i}.tunnel.localhost`, manners, events),
);
setInterval(() => {
  const { user, system } = process.cpuUsage();
  standing.cpu = (user + system) / 1e6;
  process.stdout.write(`${JSON.stringify(standing)}\n`);
}, EVERY_MS);
process.stdin.resume().once('end', () => {
  for (const agent of agents) agent.stop();
  process.exit(0);
});
for (const agent of agents) agent.start();
