// A resolver (Unbound) on loopback, with the settings of those who check names the hardest: questions in random letters (0x20), one
// label more at a time (RFC 9156). It asks nobody but the servers that it is told of.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { freePort } from '../../../src/net/free-port.ts';
import { query, TcpClient, type TypeName } from './client.ts';
import { missing, pathOf } from './programs.ts';

export interface UnboundOptions {
  /** Zones that it serves itself, by apex: lines of records such as `_acme-challenge CNAME abc.acme.tunnel.test.`. */
  zones?: Record<string, string>;
  /** Zones that it asks others for. @param address `127.0.0.1:port`. */
  stubs?: { zone: string; address: string }[];
  /** More lines of its section `server`. */
  settings?: string[];
}

export interface Unbound {
  /** `127.0.0.1:port`, over UDP and TCP. */
  address: string;
  /** Has these zones in place of those before, and forgets what it has learned. Questions of that moment get no answer. */
  serve(zones: NonNullable<UnboundOptions['zones']>): Promise<void>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Another process may have taken a port that was free a moment ago. */
const ATTEMPTS = 3;
const LOOK_MS = 20;
/** Without it, a resolver tells nothing but what it has of its own. */
const RECURSION_DESIRED = 0x0100;

/** @throws when it does not start, with what it says; also where it is not installed. */
export async function startUnbound(options: UnboundOptions): Promise<Unbound> {
  const program = pathOf('unbound');
  if (!program) throw new Error(missing('unbound'));
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(program, options);
    } catch (error) {
      if (attempt === ATTEMPTS || !String(error).includes('Address already in use')) throw error;
    }
  }
}

async function startOnce(program: string, options: UnboundOptions): Promise<Unbound> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-unbound-'));
  const port = await freePort(HOST);
  let serial = 1;
  const write = (zones = options.zones) =>
    writeFileSync(join(directory, 'unbound.conf'), settingsOf(directory, port, { ...options, zones, serial }));
  write();
  const child = spawn(program, ['-d', '-p', '-c', join(directory, 'unbound.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // Also when the test's own process ends early.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const stop = async () => {
    process.off('exit', kill);
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  const serve = async (zones: Record<string, string>) => {
    serial++;
    write(zones);
    child.kill('SIGHUP'); // It keeps its port.
    for (const apex of Object.keys(zones))
      await untilItAnswers(child, port, apex, 'SOA', ([soa = '']) => soa.includes(`"serial":${serial},`));
  };
  try {
    // It listens before it answers, so that it is asked for a name of its own (RFC 6303).
    await untilItAnswers(child, port, 'localhost', 'A');
  } catch (error) {
    await stop();
    throw new Error(`Unbound does not start: ${said || error}`);
  }
  return { address: `${HOST}:${port}`, serve, stop };
}

/** @throws when it has ended. */
async function untilItAnswers(
  child: ChildProcess,
  port: number,
  name: string,
  type: TypeName,
  isAwaited: (answers: string[]) => boolean = () => true,
): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it has ended');
    try {
      const client = await TcpClient.connect(port);
      const { answers } = await client
        .ask(query(name, type, { flags: RECURSION_DESIRED }))
        .finally(() => client.close());
      if (isAwaited(answers)) return;
    } catch {
      // It does not listen, or has closed the connection.
    }
    await later(LOOK_MS);
  }
}

function settingsOf(
  directory: string,
  port: number,
  { zones = {}, stubs = [], settings = [], serial }: UnboundOptions & { serial: number },
): string {
  const apexes = [...Object.keys(zones), ...stubs.map(({ zone }) => zone)];
  const server = [
    `directory: "${directory}"`,
    ...['chroot: ""', 'username: ""', 'pidfile: ""', 'use-syslog: no', 'verbosity: 0'],
    ...[`interface: ${HOST}`, `port: ${port}`, 'num-threads: 1', 'do-ip6: no', 'module-config: "iterator"'],
    ...['use-caps-for-id: yes', 'qname-minimisation: yes', 'do-not-query-localhost: no'],
    // It would say of these names itself that they are not there (RFC 6761).
    ...apexes.map((apex) => `local-zone: "${apex.split('.').at(-1)}." nodefault`),
    ...settings,
  ];
  const sections = [section('server', server), section('remote-control', ['control-enable: no'])];
  for (const [apex, records] of Object.entries(zones)) {
    const file = join(directory, `${apex}.zone`);
    const soa = `@ SOA ns hostmaster ${serial} 3600 600 604800 1\n@ NS ns\nns A ${HOST}`;
    writeFileSync(file, `$ORIGIN ${apex}.\n$TTL 1\n${soa}\n${records}\n`);
    sections.push(section('auth-zone', [`name: "${apex}."`, `zonefile: "${file}"`, 'for-downstream: no']));
  }
  for (const { zone, address } of stubs)
    sections.push(section('stub-zone', [`name: "${zone}."`, `stub-addr: ${address.replace(':', '@')}`]));
  return sections.join('\n');
}

const section = (name: string, lines: string[]) => `${name}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
