// A process of an attacker: `node attacker.js SLUG` with the target as JSON in TARGET. It attacks until its standard
// input ends, then prints its counts as one line of JSON.

import type { Target } from './attack.ts';
import { attacks } from './attacks/index.ts';

const attack = attacks[process.argv[2] ?? ''];
if (!attack) throw new Error(`there is no attack ${process.argv[2]}: there is ${Object.keys(attacks).join(', ')}`);
const stop = new AbortController();
process.stdin.resume().once('end', () => stop.abort());
const counts = await attack.run(JSON.parse(process.env.TARGET ?? '') as Target, stop.signal);
process.stdout.write(`${JSON.stringify(counts)}\n`, () => process.exit(0));
