// A gateway as `npm start` starts it, and its processes one by one.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatewayProgram, isSmoke, stop } from '../api/processes.js';
import { family, launch } from '../data-plane/processes.js';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */
/** @typedef {'whole' | 'primary' | 'control' | 'worker'} Role `whole`: the one process of a gateway without workers. */
/** @typedef {{ pid: number, role: Role }} Member */
/** @typedef {{ rss: number, pss: number }} Memory bytes: all that is resident, and with what is shared divided among the sharers. */

/** By then an idle process has collected the garbage of its start. */
export const IDLE_MS = isSmoke ? 0 : 20_000;
/** How `npm start` calls Node. */
const NODE_ARGS = ['--max-semi-space-size=16'];
const MALLOC = { MALLOC_TRIM_THRESHOLD_: '131072' };
const PORTS = Object.fromEntries(['API', 'ADMIN', 'AGENT', 'HTTP', 'HTTPS'].map((name) => [`${name}_PORT`, '0']));

/** What a gateway keeps from one start to the next. */
export class Place {
  /** Known since the first start. */
  authtoken = '';

  /**
   * @param {string} root of the repository.
   * @param {string} directory for its data and its log.
   * @param {string} databaseUrl empty for the embedded database.
   * @param {AbortSignal} brokenOff nothing starts any more when it is aborted.
   */
  constructor(root, directory, databaseUrl, brokenOff) {
    this.dist = join(root, 'dist');
    this.agent = join(root, 'agent/dist/agent.js');
    this.directory = directory;
    this.databaseUrl = databaseUrl;
    this.brokenOff = brokenOff;
  }

  get data() {
    return join(this.directory, 'data');
  }

  get ca() {
    return readFileSync(join(this.data, 'ca.pem'), 'utf8');
  }

  /**
   * @param {number} workers
   * @param {Record<string, string>} [env]
   * @param {string[]} [nodeArgs]
   */
  async start(workers, env = {}, nodeArgs = []) {
    this.brokenOff.throwIfAborted();
    const own = { NODE_ENV: 'production', HOST: '127.0.0.1', TCP_PORTS: '0', LOG_LEVEL: 'warn', DATA_DIR: this.data };
    const begun = performance.now();
    const child = await launch(process.execPath, [...NODE_ARGS, ...nodeArgs, gatewayProgram(this.dist)], {
      env: { ...PORTS, ...MALLOC, ...own, DATABASE_URL: this.databaseUrl, WORKERS: `${workers}`, ...env },
      logFile: join(this.directory, 'gateway.log'),
      until: /^ready /,
    });
    const startMs = performance.now() - begun;
    const text = child.lines.join('\n');
    const said = (/** @type {RegExp} */ pattern) => pattern.exec(text)?.[1] ?? '';
    this.authtoken ||= said(/^Authtoken: (\S+)/m);
    return new Gateway(child.process, startMs, {
      address: said(/^ready .*\bagent=(\S+)/m),
      httpPort: Number(said(/^ready .*\bhttp=\S*:(\d+)/m)),
    });
  }
}

export class Gateway {
  /** @param {ChildProcess} child @param {number} startMs @param {{ address: string, httpPort: number }} listeners */
  constructor(child, startMs, { address, httpPort }) {
    this.process = child;
    /** From the start of the process to the line that says it is ready; milliseconds. */
    this.startMs = startMs;
    /** Where agents connect, `host:port`. */
    this.address = address;
    this.httpPort = httpPort;
  }

  /** Its processes, the primary first. @returns {Member[]} */
  members() {
    const members = family(this.process).map((pid) => ({ pid, role: roleOf(pid) }));
    return members.length === 1 ? members.map(({ pid }) => ({ pid, role: 'whole' })) : members;
  }

  stop() {
    return stop(this.process);
  }
}

/** @param {number} pid @returns {Role} */
function roleOf(pid) {
  const role = /(?:^|\0)GATEWAY_PROCESS=(control|worker)\0/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1];
  return /** @type {Role | undefined} */ (role) ?? 'primary';
}

/** @param {number | undefined} pid @returns {Memory} */
export function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const bytes = (/** @type {string} */ name) => Number(new RegExp(`^${name}: *(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
  return { rss: bytes('Rss'), pss: bytes('Pss') };
}
