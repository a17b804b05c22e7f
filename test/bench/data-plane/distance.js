// One stream each way between places that are far apart: gateway and agent with a relay between them that adds a round trip,
// alone and beside streams of the same session whose readers have stalled.
//
//   node test/bench/data-plane/distance.js [--round-trip 100] [--rounds 3] [--dist DIR] [--agent FILE]
//
// BENCH_SMOKE=1 only tries whether everything works, with small streams and a short way.

import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isSmoke } from '../api/processes.js';
import { median } from '../api/report.js';
import { Bench } from './bench.js';
import { cases } from './cases.js';
import { startAgent, startGateway } from './gateway.js';
import { launch } from './processes.js';

const TARGET = 60; // MB/s
/** What a stalled neighbour may take of a stream's speed counts as nothing up to here: rounds differ by as much. */
const UNSLOWED = 0.85;
/** A neighbour's windows are full, and it stands still, after so many round trips. */
const STALLED_AFTER = 20;
/** So much has gone into a neighbour's connection at least: its request, and the begin of an answer or an upload. */
const STALLED_BYTES = 16 * 1024;
const root = resolve(import.meta.dirname, '../../..');

const { values: options } = parseArgs({
  options: {
    'round-trip': { type: 'string', default: isSmoke ? '10' : '100' },
    rounds: { type: 'string', default: isSmoke ? '1' : '3' },
    dist: { type: 'string', default: join(root, 'dist') },
    agent: { type: 'string', default: join(root, 'agent/dist/agent.js') },
  },
});
const roundTrip = Number(options['round-trip']);
const rounds = Number(options.rounds);
const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const bench = new Bench();

try {
  bench.closeWhenAsked();
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${bench.logs().join('')}`);
  process.exitCode = 1;
} finally {
  await bench.close();
}

async function run() {
  await bench.startNodeOrigin();
  const gateway = await startGateway(join(bench.directory, 'gateway'), resolve(options.dist), bench.keep);
  const agentPort = await relayTo(gateway.address);
  const directory = join(bench.directory, 'agent');
  mkdirSync(directory);
  const agent = await startAgent({
    directory,
    gateway,
    address: `127.0.0.1:${agentPort}`,
    port: bench.origin,
    keep: bench.keep,
    file: resolve(options.agent),
  });
  if (typeof agent === 'string') throw new Error(`There is nothing to measure, as ${agent}`);

  const originPort = await relayTo(`127.0.0.1:${bench.origin}`);
  const far = { port: originPort, host: `127.0.0.1:${originPort}` };
  const tunnel = { port: gateway.httpPort, host: agent.host };
  say(`A round trip of ${roundTrip} ms, one stream, median of ${rounds}; MB/s from the request to the last byte.`);
  say(`down ${(await rate(far, 'down')).toFixed(0)}, up ${(await rate(far, 'up')).toFixed(0)}: the relay alone`);

  const alone = await both(tunnel);
  verdict('alone', alone);
  const neighbours = [await stall(tunnel, 'GET', '/large'), await stall(tunnel, 'POST', '/stall')];
  await later(STALLED_AFTER * roundTrip);
  const beside = await both(tunnel);
  for (const { destroyed, bytesRead, bytesWritten } of neighbours)
    if (destroyed || bytesRead + bytesWritten < STALLED_BYTES)
      throw new Error('a stalled neighbour was not there any more');
  verdict('beside stalled neighbours', beside);
  for (const name of /** @type {const} */ (['down', 'up'])) {
    const share = beside[name] / alone[name];
    say(`${name}: ${share.toFixed(2)} of the speed alone: ${share >= UNSLOWED ? 'not slowed' : 'SLOWED'}`);
  }
  for (const neighbour of neighbours) neighbour.destroy();
}

/** @param {string} address @returns {Promise<number>} the port of a relay to it. */
async function relayTo(address) {
  const args = [join(import.meta.dirname, 'relay.js'), address, `${roundTrip / 2}`];
  const logFile = join(bench.directory, 'relay.log');
  const relay = await launch(process.execPath, args, { logFile, until: /^ready / });
  bench.keep(relay.process);
  return Number(relay.lines.at(-1)?.split(' ')[1]);
}

/** @param {{ port: number, host: string }} to @param {'down' | 'up'} name */
async function rate(to, name) {
  return (await bench.send(to, name, 0)).perSecond;
}

/** @param {{ port: number, host: string }} to */
async function both(to) {
  const rates = { down: /** @type {number[]} */ ([]), up: /** @type {number[]} */ ([]) };
  for (let round = 0; round < rounds; round++) {
    rates.down.push(await rate(to, 'down'));
    rates.up.push(await rate(to, 'up'));
  }
  return { down: median(rates.down), up: median(rates.up) };
}

/** @param {string} when @param {{ down: number, up: number }} rates */
function verdict(when, rates) {
  const words = Object.entries(rates).map(([name, value]) => {
    const met = value >= TARGET ? 'met' : `MISSED by ${(100 * (1 - value / TARGET)).toFixed(0)} %`;
    return `${name} ${value.toFixed(0)} (>= ${TARGET}: ${met})`;
  });
  say(`${words.join(', ')}: ${when}`);
}

/**
 * A visitor who never reads the answer, or whose upload is never read.
 * @param {{ port: number, host: string }} to @param {string} method @param {string} path
 */
async function stall({ port, host }, method, path) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const length = method === 'POST' ? `Content-Length: ${cases.down?.bytes}\r\n` : '';
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${length}\r\n`);
  if (method === 'POST') socket.write(Buffer.alloc(64 * 1024 * 1024));
  return socket;
}
