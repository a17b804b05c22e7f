// Agents for tests: in this process, or as the bundle that devices run. Whoever starts one ends it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from '../../agent/build.js';
import { type AgentOptions, startAgent } from '../../agent/src/run/start-agent.ts';
import { readConfig } from '../../agent/src/settings/config.ts';
import { type Answer, send } from '../support/gateway/http.ts';

const LIFE_MS = 60_000;
/** A line that does not come by then never comes: the error says what was printed instead. */
const FIND_MS = 40_000;

/** Nothing listens at port 1: an agent that is told nothing else does not reach a gateway. */
const USUAL = { GATEWAY_ADDR: '127.0.0.1:1', AGENT_API_ADDR: '127.0.0.1:0' };

export type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** Asks the local API at `base`. */
export function askAt(base: string): Ask {
  const agent = new HttpAgent();
  return (method, path, body, headers = {}) => {
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = payload === undefined ? {} : { 'content-type': 'application/json' };
    return send(agent, method, `${base}${path}`, { ...type, ...headers }, payload);
  };
}

/** A directory for an agent's files. */
export function newDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'agent-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Lines as they come. */
export interface Lines {
  readonly all: string[];
  add(line: string): void;
  /**
   * Resolves to the first line that matches.
   * @param from how many lines to leave out.
   * @throws when there is none within 40 s, with all lines.
   */
  find(pattern: RegExp, from?: number): Promise<string>;
}

/** @param more what else was printed, for the error of a search that found nothing. */
function newLines(more?: () => string[]): Lines {
  const all: string[] = [];
  const readers = new Set<() => void>();
  return {
    all,
    add(line) {
      all.push(line);
      for (const read of readers) read();
    },
    find: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const read = () => {
          const found = all.slice(from).find((line) => pattern.test(line));
          if (found === undefined) return;
          clearTimeout(deadline);
          readers.delete(read);
          resolve(found);
        };
        const deadline = setTimeout(() => {
          readers.delete(read);
          const context = [...all, ...(more?.() ?? [])].join('\n');
          reject(
            new Error(`no line matched ${pattern} within ${FIND_MS / 1000} s, but these were printed:\n${context}`),
          );
        }, FIND_MS);
        readers.add(read);
        read();
      }),
  };
}

export interface LocalAgent {
  api: string;
  ask: Ask;
  log: Lines;
  printed: Lines;
  ended: Promise<string>;
  close(): Promise<void>;
}

/** An agent in this process, its files in `directory`. */
export async function startLocal(
  directory: string,
  env: Record<string, string>,
  options: AgentOptions = {},
): Promise<LocalAgent> {
  const config = readConfig({ ...USUAL, TUNNEL_AUTHTOKEN: 'none', ...env }, directory);
  const log = newLines();
  const printed = newLines();
  const agent = await startAgent(
    config,
    (level, text, details) => log.add(`${level} ${text} ${JSON.stringify(details ?? {})}`),
    printed.add,
    options,
  );
  return { ...agent, ask: askAt(agent.api), log, printed };
}

export interface AgentProcess {
  pid: number;
  stdout: Lines;
  stderr: Lines;
  /** Resolves to the exit code; null when a signal ended it. */
  exited: Promise<number | null>;
  /** Sends a signal and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Where `startProcess` runs from: bundled once for a test file. */
let bundled: Promise<string> | undefined;

/** The bundle, alone in a directory. */
export function bundledAgent(): Promise<string> {
  bundled ??= (async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'agent-bundle-')), 'agent.js');
    process.once('exit', () => rmSync(join(file, '..'), { recursive: true, force: true }));
    await bundle(file);
    return file;
  })();
  return bundled;
}

/** The agent as a process of its own, in `directory` and with no other environment than `env`. */
export async function startProcess(
  directory: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<AgentProcess> {
  const child = spawn(process.execPath, [await bundledAgent(), ...args], {
    cwd: directory,
    env: { ...USUAL, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // One that a failing test forgets does not stay.
    timeout: LIFE_MS,
    killSignal: 'SIGKILL',
  });
  const stderr = newLines();
  const stdout = newLines(() => [
    ...stderr.all,
    `(process ${child.pid}: exit code ${child.exitCode}, signal ${child.signalCode})`,
  ]);
  createInterface({ input: child.stdout }).on('line', stdout.add);
  createInterface({ input: child.stderr }).on('line', stderr.add);
  // `close` comes when the streams have ended, so that the last lines are there.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    exited,
    kill(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}

/** `start`, up to the line that says where the API is. */
export async function startService(
  directory: string,
  env: Record<string, string>,
): Promise<AgentProcess & { ask: Ask }> {
  const agent = await startProcess(directory, ['start'], env);
  const ready = await Promise.race([agent.stdout.find(/^ready api=/), agent.exited]);
  if (typeof ready !== 'string') throw new Error(`the agent ended: ${agent.stderr.all.join('\n')}`);
  return { ...agent, ask: askAt(ready.slice('ready api='.length)) };
}

/** Runs it to its end. */
export async function runToEnd(directory: string, args: string[], env: Record<string, string> = {}) {
  const { exited, stdout, stderr } = await startProcess(directory, args, env);
  return { code: await exited, stdout: stdout.all.join('\n'), stderr: stderr.all.join('\n') };
}
