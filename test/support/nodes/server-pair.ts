// Two PostgreSQL servers of their own, one of which follows the other, behind an HAProxy that leads to the one that takes writes.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

/** Where Debian has the programs of its newest PostgreSQL. */
const DEBIAN = '/usr/lib/postgresql';
const HAPROXY = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((path) => existsSync(path));
const PROGRAMS = newestPrograms();
const LOOK_MS = 50;
const NAMES = ['a', 'b'] as const;
const USER = 'postgres';

type Name = (typeof NAMES)[number];

/** Whether the programs are there. */
export const hasServerPrograms = PROGRAMS !== undefined && HAPROXY !== undefined;

export interface ServerPair {
  /** The database, by the HAProxy. */
  url: string;
  /** Kills the server that takes writes, at once and with all its processes, and makes the other one take its place. */
  failOver(): Promise<void>;
  /** Makes the one that was killed follow the other. Each commit waits for it then. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

export async function startServerPair(): Promise<ServerPair> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-servers-'));
  // PostgreSQL does not run as root.
  const owner = process.getuid?.() === 0 ? idsOf(USER) : undefined;
  if (owner) chownSync(directory, owner.uid, owner.gid);
  const ports = Object.fromEntries(await Promise.all(NAMES.map(async (name) => [name, await freePort()]))) as Record<
    Name,
    number
  >;
  const front = await freePort();
  const children = new Map<Name, ChildProcess>();
  const dataOf = (name: Name) => join(directory, name);
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(PROGRAMS ?? '', program), args, { cwd: directory, ...owner });
  const sql = async (name: Name, statement: string) => {
    const client = new pg.Client({ host: '127.0.0.1', port: ports[name], user: USER, database: USER });
    await client.connect();
    return client.query(statement).finally(() => client.end());
  };
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  };
  const start = async (name: Name) => {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: ports[name],
      unix_socket_directories: directory,
      fsync: 'off',
    };
    const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    // A group of its own, so that all its processes are killed at the same moment; also when the test's own process ends early.
    const child = spawn(join(PROGRAMS ?? '', 'postgres'), ['-D', dataOf(name), ...options], {
      cwd: directory,
      detached: true,
      stdio: 'ignore',
      ...owner,
    });
    children.set(name, child);
    process.once('exit', () => killGroup(child));
    await until(async () => (await sql(name, 'SELECT 1')).rowCount === 1);
  };
  const kill = async (name: Name) => {
    const child = children.get(name);
    children.delete(name);
    if (!child?.pid) return;
    const ended = once(child, 'exit');
    killGroup(child);
    await ended;
  };
  const follow = async (name: Name, leader: Name) => {
    rmSync(dataOf(name), { recursive: true, force: true });
    const from = ['-h', '127.0.0.1', '-p', String(ports[leader]), '-U', USER];
    await run('pg_basebackup', ...from, '-D', dataOf(name), '--write-recovery-conf', '--checkpoint=fast');
    await start(name);
    await sql(leader, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await sql(leader, 'SELECT pg_reload_conf()');
    await until(
      async () => (await sql(leader, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).rowCount === 1,
    );
  };

  await run('initdb', '-D', dataOf('a'), '-U', USER, '--auth=trust', '--no-sync');
  await start('a');
  await follow('b', 'a');
  const proxy = spawn(HAPROXY ?? '', ['-db', '-q', '-f', writeProxySettings(directory, front, ports)], {
    stdio: 'ignore',
  });
  let leader: Name = 'a';
  const other = (): Name => (leader === 'a' ? 'b' : 'a');
  const url = `postgresql://${USER}@127.0.0.1:${front}/${USER}`;
  await until(async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client.query('SELECT 1').then(() => client.end().then(() => true));
  });
  return {
    url,
    async failOver() {
      await kill(leader);
      leader = other();
      await run('pg_ctl', 'promote', '-D', dataOf(leader));
    },
    repair: () => follow(other(), leader),
    async close() {
      proxy.kill('SIGKILL');
      for (const name of NAMES) await kill(name);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Only the server that is not in recovery takes writes: the check asks each. What is connected to one that is lost is cut. */
function writeProxySettings(directory: string, port: number, ports: Record<Name, number>): string {
  const text = (value: string) => Buffer.from(`${value}\0`);
  const message = (type: string, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length + length.length);
    return Buffer.concat([Buffer.from(type), length, body]).toString('hex');
  };
  const startup = message(
    '',
    Buffer.from([0, 3, 0, 0]),
    text('user'),
    text(USER),
    text('database'),
    text(USER),
    Buffer.alloc(1),
  );
  const query = message('Q', text('SELECT pg_is_in_recovery()'));
  const isPrimary = message('D', Buffer.from([0, 1, 0, 0, 0, 1]), Buffer.from('f'));
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(
    file,
    `defaults
  mode tcp
  timeout connect 1s
  timeout client 10m
  timeout server 10m
  timeout check 1s
listen postgresql
  bind 127.0.0.1:${port}
  option tcp-check
  tcp-check send-binary ${startup}
  tcp-check send-binary ${query}
  tcp-check expect binary ${isPrimary}
  default-server inter 250ms fall 2 rise 1 on-marked-down shutdown-sessions
${NAMES.map((name) => `  server ${name} 127.0.0.1:${ports[name]} check`).join('\n')}
`,
  );
  return file;
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

function newestPrograms(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  const [newest] = readdirSync(DEBIAN).sort((one, another) => Number(another) - Number(one));
  const programs = join(DEBIAN, newest ?? '', 'bin');
  return existsSync(join(programs, 'initdb')) ? programs : undefined;
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
