// The real thing: `node dist/bundle/main.js` as a process of its own, to be asked, signalled and killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { root } from '../root.ts';
import type { Call } from './gateway.ts';
import { send } from './http.ts';
import { freePorts, newPlace, type Place } from './place.ts';

const START_MS = 60_000;
/** A gateway that was told to end and does not is killed then: its exit code is null. */
const END_MS = 30_000;
/** V8 optimises code when it has run ten times as often as usual. What says so has another name since the V8 of Node 22. */
const LATER_OPTIMIZATION =
  Number.parseInt(process.versions.node, 10) < 22
    ? '--interrupt-budget=1500000'
    : '--invocation-count-for-turbofan=30000';
/**
 * As `npm start` has it, but for optimisation: a gateway that lives for some seconds would spend a sixth of its CPU time on that of
 * the code that starts it.
 */
const V8_OPTIONS = ['--max-semi-space-size=16', LATER_OPTIMIZATION];

export interface GatewayProcess {
  api: string;
  admin: string;
  /** Host and port. */
  agent: string;
  http: string;
  https: string;
  /** As printed; undefined when it was not. */
  apiKey: string | undefined;
  authtoken: string | undefined;
  pid: number;
  place: Place;
  /** Everything printed, a line each. */
  stdout: string[];
  stderr: string[];
  /** Whether its log is read; it is from the start. */
  readLog(isRead: boolean): void;
  call: Call;
  /** Resolves to the exit code; null when a signal ended it. */
  exited: Promise<number | null>;
  /** Sends a signal and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  /** A new process on the same data, after this one has ended. */
  restart(env?: Record<string, string>): Promise<GatewayProcess>;
}

interface Child {
  child: ChildProcess;
  /** Where its log is read; undefined where it goes to a file. */
  log: Interface | undefined;
  stdout: string[];
  stderr: string[];
  exited: Promise<number | null>;
}

/**
 * Starts a gateway; whoever starts it ends it, and removes its place.
 * @param logTo an open file for its log, in place of `stderr`.
 * @throws when it ends before it is ready.
 */
export async function startProcess(
  env: Record<string, string> = {},
  place?: Place,
  knownKey?: string,
  logTo?: number,
): Promise<GatewayProcess> {
  const ownPlace = place ?? (await newPlace());
  const { child, log, stdout, stderr, exited } = spawnGateway({ ...ownPlace.env, ...env }, logTo);
  const ready = await readyLine(child, stdout, exited).catch(async (error) => {
    child.kill('SIGKILL');
    await exited;
    if (!place) await ownPlace.remove();
    throw new Error(`${error.message}\n${[...stdout, ...stderr].join('\n')}`);
  });
  const address = (name: string) => new RegExp(` ${name}=(\\S+)`).exec(ready)?.[1] ?? '';
  const printed = (label: string) => stdout.find((line) => line.startsWith(`${label}: `))?.slice(label.length + 2);
  const apiKey = printed('API key');
  const key = apiKey ?? env.INITIAL_API_KEY ?? knownKey;
  const agent = new Agent({ keepAlive: true });
  exited.then(() => agent.destroy());

  return {
    api: address('api'),
    admin: address('admin'),
    agent: address('agent'),
    http: address('http'),
    https: address('https'),
    apiKey,
    authtoken: printed('Authtoken'),
    pid: child.pid ?? 0,
    place: ownPlace,
    stdout,
    stderr,
    readLog: (isRead) => log?.[isRead ? 'resume' : 'pause'](),
    exited,
    call: (method, path, body, options = {}) => {
      const payload =
        body === undefined || typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body);
      const used = options.key === undefined ? key : options.key;
      const headers = {
        ...(used == null ? {} : { authorization: `Bearer ${used}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        'service-version': '2',
        ...options.headers,
      };
      return send(agent, method, new URL(path, address('api')).href, headers, payload);
    },
    kill(signal = 'SIGKILL') {
      child.kill(signal);
      const deadline = setTimeout(() => child.kill('SIGKILL'), END_MS);
      return exited.finally(() => clearTimeout(deadline));
    },
    restart: (more = {}) => startProcess({ ...env, ...more }, ownPlace, key),
  };
}

/** Runs a gateway that is expected to refuse to start. */
export async function runRefused(
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { child, stdout, stderr, exited } = spawnGateway(env);
  const deadline = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const code = await exited;
  clearTimeout(deadline);
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
}

function spawnGateway(env: Record<string, string>, logTo?: number): Child {
  const child = spawn(process.execPath, [...V8_OPTIONS, join(root, 'dist/bundle/main.js')], {
    env: { PATH: process.env.PATH, ...freePorts, WORKERS: '1', RATE_LIMIT: '1000000', ...env },
    stdio: ['ignore', 'pipe', logTo ?? 'pipe'],
  });
  const stdout: string[] = [];
  const stderr: string[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line));
  const log = child.stderr ? createInterface({ input: child.stderr }) : undefined;
  log?.on('line', (line) => stderr.push(line));
  // `close` comes when the streams have ended, so that the last lines are there.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { child, log, stdout, stderr, exited };
}

function readyLine(child: ChildProcess, stdout: string[], exited: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const line = stdout.find((text) => text.startsWith('ready '));
      // What is printed after it belongs to the same write.
      if (line) setImmediate(resolve, line);
    };
    child.stdout?.on('data', () => setImmediate(look));
    exited.then(() => reject(new Error('the gateway ended before it was ready')));
    setTimeout(() => reject(new Error(`the gateway was not ready within ${START_MS} ms`)), START_MS).unref();
  });
}

/** The listeners of a gateway as settings, so that another process can take its place. */
export function portsOf({ api, admin, agent, http, https }: GatewayProcess): Record<string, string> {
  const port = (address: string) => address.slice(address.lastIndexOf(':') + 1);
  return {
    API_PORT: port(api),
    ADMIN_PORT: port(admin),
    AGENT_PORT: port(agent),
    HTTP_PORT: port(http),
    HTTPS_PORT: port(https),
  };
}
