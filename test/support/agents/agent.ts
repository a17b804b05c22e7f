// The real agent: `node agent/dist/agent.js` as a process of its own, to be asked, signalled and killed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../root.ts';

const START_MS = 30_000;

export interface AgentOptions {
  authtoken: string;
  /** Host and port of the gateway's agent listener. */
  gateway: string;
  /** A file with the certificate to trust. */
  caFile: string;
  /** `start` unless told otherwise. */
  args?: string[];
  env?: Record<string, string>;
  /** Where its files are; a directory of its own, removed by `remove`, unless given. */
  directory?: string;
}

export interface AgentProcess {
  pid: number;
  directory: string;
  stdout: string[];
  stderr: string[];
  /** The first line printed, now or later, that matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  exited: Promise<number | null>;
  /** Sends a signal and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  /** A new process with the same files, after this one has ended. */
  restart(): Promise<AgentProcess>;
  /** Ends it, and removes its directory. */
  remove(): Promise<void>;
}

export async function startAgent(options: AgentOptions): Promise<AgentProcess> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'gateway-agent-')));
  const child = spawn(process.execPath, [join(root, 'agent/dist/agent.js'), ...(options.args ?? ['start'])], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      TUNNEL_AUTHTOKEN: options.authtoken,
      GATEWAY_ADDR: options.gateway,
      GATEWAY_CA: options.caFile,
      AGENT_API_ADDR: '127.0.0.1:0',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stdout: string[] = [];
  const stderr: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line));
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    stdout.push(line);
    for (const look of [...waiting]) look();
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const kill = (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid ?? 0,
    directory,
    stdout,
    stderr,
    exited,
    kill,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) => {
          waiting.delete(look);
          clearTimeout(deadline);
          reject(new Error(`${why}: ${[...stdout, ...stderr].join('\n')}`));
        };
        const deadline = setTimeout(fail, START_MS, `the agent did not print ${pattern}`);
        const look = () => {
          const found = stdout.map((line) => pattern.exec(line)).find((match) => match !== null);
          if (!found) return;
          waiting.delete(look);
          clearTimeout(deadline);
          resolve(found);
        };
        waiting.add(look);
        void exited.then(() => fail('the agent ended'));
        look();
      }),
    restart: () => startAgent({ ...options, directory }),
    async remove() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
