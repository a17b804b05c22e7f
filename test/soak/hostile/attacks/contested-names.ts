// Two accounts that bind names of one site at the same moment, under every scheme: all that is bound is of one of them, visitors come to
// that one alone, and the other gets the site once nothing of it is used.

import { get } from 'node:http';
import { callPeer, type MuxSession, StreamType } from '../../../../src/protocol/index.ts';
import { openSession } from '../agent-session.ts';
import { pause } from '../agent-wire.ts';
import type { Attack, Counts, Target } from '../attack.ts';

const CALL_MS = 60_000;
const EVERY_MS = 100;
/** The number of the refusal that is right. */
const OF_OTHER = /_320\b/;

interface Fighter {
  name: 'tenant' | 'rival';
  mux: MuxSession;
}

interface Bound {
  name: Fighter['name'];
  id: string;
  url: string;
}

/** @returns what was bound; undefined when it was refused. @throws {Error} when it was refused for another reason than it should be. */
async function bind({ name, mux }: Fighter, proto: string, host: string): Promise<Bound | undefined> {
  const request = { Id: '', Proto: proto, Opts: { Hostname: host }, Extra: {} };
  const reply = (await callPeer(mux, StreamType.BIND, request, CALL_MS)) as { Error?: string; Id: string; URL: string };
  if (!reply.Error) return { name, id: reply.Id, url: reply.URL };
  if (!OF_OTHER.test(reply.Error)) throw new Error(`${proto}://${host} was refused to the ${name}: ${reply.Error}`);
  return undefined;
}

const unbind = ({ mux }: Fighter, { id }: Bound) => callPeer(mux, StreamType.UNBIND, { Id: id }, CALL_MS);

/** What a visitor of the HTTP listener is told. */
function visited({ http }: Target, host: string): Promise<string> {
  const [hostname, port] = http.split(/:(?=\d+$)/);
  return new Promise((resolve, reject) => {
    get({ hostname, port, agent: false, headers: { host } }, (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve(text));
    }).once('error', reject);
  });
}

async function fight(target: Target, fighters: readonly [Fighter, Fighter], site: string): Promise<Fighter['name']> {
  const names = [`http ${site}`, `https ${site}`, `tls x.${site}`, `http x.${site}`];
  const asked = names.flatMap((text, i) => {
    const [proto = '', host = ''] = text.split(' ');
    // Who asks first changes with every name.
    return (i % 2 === 0 ? fighters : fighters.toReversed()).map((fighter) => bind(fighter, proto, host));
  });
  const bound = (await Promise.all(asked)).filter((one) => one !== undefined);
  const winners = [...new Set(bound.map(({ name }) => name))];
  const [winner] = winners;
  if (winner === undefined || winners.length > 1) throw new Error(`${site} is of ${winners.join(' and ') || 'nobody'}`);
  for (const { url } of bound) {
    if (!url.startsWith('http:')) continue;
    const told = await visited(target, new URL(url).hostname);
    if (told !== winner) throw new Error(`a visitor of ${url}, which the ${winner} has bound, was told ${told}`);
  }
  const [first, second] = fighters;
  const [own, other] = first.name === winner ? [first, second] : [second, first];
  if (await bind(other, 'https', `late.${site}`))
    throw new Error(`the ${other.name} was late, and got a name of ${site}`);
  for (const one of bound) await unbind(own, one);
  const next = await bind(other, 'https', site);
  if (!next) throw new Error(`nobody uses ${site} any more, and the ${other.name} does not get it`);
  await unbind(other, next);
  return winner;
}

async function run(target: Target, signal: AbortSignal): Promise<Counts> {
  const counts = { tenant: 0, rival: 0 };
  const open = async (name: Fighter['name']) => ({
    name,
    mux: await openSession(target, target[name].authtoken, name),
  });
  const fighters = [await open('tenant'), await open('rival')] as const;
  try {
    for (let round = 1; !signal.aborted; round++) {
      counts[await fight(target, fighters, `fight-${process.pid}-${round}.${target.baseDomain}`)]++;
      await pause(EVERY_MS, signal);
    }
  } finally {
    for (const { mux } of fighters) mux.close();
  }
  return counts;
}

/** Each round has one winner, which a visitor comes to; `crashed` else. */
export const attack: Attack = { name: 'B11 two accounts that fight for names', run };
