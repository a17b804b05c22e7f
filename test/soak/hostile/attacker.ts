// A process of attackers: `node attacker.js SLUG...` with the target as JSON in TARGET. It prints `ready`, attacks from the
// first byte of its standard input until the input ends, then prints the counts of each attack as one line of JSON.

import type { Counts, Target } from './attack.ts';
import { attacks } from './attacks/index.ts';

const target = JSON.parse(process.env.TARGET ?? '') as Target;
const prepared = await Promise.all(
  process.argv.slice(2).map(async (slug) => {
    const attack = attacks[slug];
    if (!attack) throw new Error(`there is no attack ${slug}: there is ${Object.keys(attacks).join(', ')}`);
    const run = 'prepare' in attack ? await attack.prepare(target) : attack.run;
    return async (signal: AbortSignal): Promise<[string, Counts]> => {
      try {
        return [slug, await run(target, signal)];
      } catch (error) {
        console.error(`${slug} ended:`, error);
        return [slug, { crashed: 1 }];
      }
    };
  }),
);
const stop = new AbortController();
process.stdin.once('end', () => stop.abort());
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve).once('end', resolve));
const counts = await Promise.all(prepared.map((run) => run(stop.signal)));
process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`, () => process.exit(0));
