// One round: honest clients alone, then beside each attack in its turn, then beside all of them at once.

import { HonestClients, type Kind } from '../../support/load/honest-clients.ts';
import type { Counts } from './attack.ts';
import { startAttacker } from './attackers.ts';
import type { Lab } from './lab.ts';
import { type Figures, Samples } from './samples.ts';

const SAMPLE_MS = 200;

export interface Phase {
  name: string;
  figures: Map<Kind, Figures>;
  /** The gateway's resident memory, in MB. */
  memory: { before: number; most: number; after: number };
  /** What the attackers counted, by attack. */
  counts: Record<string, Counts>;
}

export interface Plan {
  /** Milliseconds of each phase; 0: there is none of the kind. */
  quiet: number;
  each: number;
  together: number;
  /** Attacks by their slug, for the phases of one attack. */
  attacks: string[];
  /** The same for the phase of all attacks, those of one process in one list. */
  groups: string[][];
  /** How long an honest client waits at most; 20 s when left out. */
  patienceMs?: number;
  /** Of the attackers' processes (nice). */
  priority: number;
  /** Told of each phase when it is over. */
  onPhase(phase: Phase, quiet: Phase): void;
}

/** @returns the quiet phase first. Honest clients that failed say why in `failures`. */
export async function playRound(lab: Lab, plan: Plan): Promise<{ phases: Phase[]; failures: string[] }> {
  const clients = new HonestClients(() => new Samples(), plan.patienceMs);
  clients.start(lab);
  const phases: Phase[] = [];
  const play = async (name: string, groups: string[][], ms: number) => {
    const phase = await playPhase(lab, clients, { name, groups, ms, priority: plan.priority });
    phases.push(phase);
    plan.onPhase(phase, phases[0] ?? phase);
  };
  try {
    // What is compiled and connected on first use is no part of the quiet figure.
    await playPhase(lab, clients, { name: 'warm-up', groups: [], ms: plan.quiet / 4, priority: 0 });
    await play('quiet', [], plan.quiet);
    if (plan.each > 0) for (const slug of plan.attacks) await play(slug, [[slug]], plan.each);
    if (plan.together > 0) await play('all together', plan.groups, plan.together);
  } finally {
    await clients.stop();
  }
  const failures = [...clients.samples].flatMap(([kind, { failures }]) => failures.map((text) => `${kind}: ${text}`));
  return { phases, failures };
}

interface Step {
  name: string;
  /** Attacks by their slug, those of one process in one list. */
  groups: string[][];
  ms: number;
  priority: number;
}

async function playPhase(
  lab: Lab,
  clients: HonestClients<Samples>,
  { name, groups, ms, priority }: Step,
): Promise<Phase> {
  for (const samples of clients.samples.values()) samples.take();
  const before = lab.memory();
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, lab.memory());
  }, SAMPLE_MS);
  const attackers = await Promise.all(groups.map((slugs) => startAttacker(slugs, lab.target, priority)));
  for (const attacker of attackers) attacker.begin();
  const ended = lab.gateway.exited.then(() => 'ended' as const);
  const outcome = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ms))]);
  const stopped = await Promise.all(attackers.map((attacker) => attacker.stop()));
  clearInterval(sampling);
  if (outcome === 'ended')
    throw new Error(`the gateway ended during "${name}":\n${lab.gateway.stderr.slice(-20).join('\n')}`);
  return {
    name,
    figures: new Map([...clients.samples].map(([kind, samples]) => [kind, samples.take()])),
    memory: { before, most, after: lab.memory() },
    counts: Object.assign({}, ...stopped),
  };
}
