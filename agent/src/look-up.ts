// Look-ups of names. The system's resolver takes a thread of four for each, for ten seconds and more while no name server answers, and
// files need these threads, too.

import dns, { type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** The most look-ups under way. Others wait for their turn. */
const LOOKUPS_MAX = 2;

const underWay = new Map<string, Promise<LookupAddress[]>>();
const waiting: (() => void)[] = [];
let free = LOOKUPS_MAX;

/**
 * Finds all addresses of a name, in the order of the system. Whoever asks for the same name meanwhile gets the same answer.
 * @throws {Error} why it cannot be found.
 */
export function lookUp(name: string): Promise<LookupAddress[]> {
  const shared = underWay.get(name);
  if (shared) return shared;
  const found = turn()
    .then(() => ask(name))
    .finally(() => {
      underWay.delete(name);
      free++;
      waiting.shift()?.();
    });
  underWay.set(name, found);
  return found;
}

/** The same for connections. */
export const lookupForConnect: LookupFunction = (name, options, done) => {
  lookUp(name).then(
    (all) => {
      const fitting = all.filter(({ family }) => !options.family || options.family === family);
      const [first] = fitting;
      if (options.all) done(null, fitting);
      else done(null, first?.address ?? '', first?.family);
    },
    (error: NodeJS.ErrnoException) => done(error, ''),
  );
};

async function turn(): Promise<void> {
  while (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  free--;
}

function ask(name: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    dns.lookup(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}
