// A gateway with two workers, or more, as processes: the tests find, stop and kill each of them.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { ClientTiming } from '../../agent/src/client/timing.ts';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { eventually } from '../support/eventually.ts';
import { answerOf } from '../support/gateway/answer.ts';
import type { Place } from '../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../support/gateway/process.ts';
import { visit } from '../support/visit.ts';

export const CONTROL = 'control';
export const WORKERS = [0, 1] as const;
/** The control process, or a worker by its index. */
export type Which = typeof CONTROL | number;

export interface ProcessGroup {
  gateway: GatewayProcess;
  ca: string;
  /** The process id of one that runs now; undefined when it does not. */
  pid(which: Which): number | undefined;
  /** All that run. */
  pids(): number[];
  /** Sends a signal to one. @returns its process id. */
  kill(which: Which, signal: NodeJS.Signals): number;
  /** Opens something while the other workers are stopped, so that it comes to this one. One after the other. */
  at<T>(worker: number, open: () => Promise<T>): Promise<T>;
  /** A connection of a visitor that a worker has accepted, which is kept for visits. It ends with the test. */
  connectionAt(worker: number, protocol?: 'http' | 'https'): Promise<HttpAgent>;
  /** An agent at a worker. It ends with the test. */
  agentAt(worker: number, options?: AgentOptions): Promise<TestClient>;
  /** At which worker an agent is. */
  workerOf(agent: TestClient): number | undefined;
  /** Resolves when all processes serve. */
  settled(): Promise<void>;
  /** Runs a GraphQL operation of the admin. @returns its one field. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  graphql(query: string, variables?: object): Promise<any>;
  close(): Promise<void>;
}

export interface AgentOptions {
  authtoken?: string;
  timing?: Partial<ClientTiming>;
}

/** Starts it, with two workers unless `env` says otherwise. Whoever starts it closes it. @param place is removed at its end. */
export async function startProcessGroup(env: Record<string, string> = {}, place?: Place): Promise<ProcessGroup> {
  // The tests stop processes for longer than the watchdog lets them.
  const variables = { WORKERS: '2', DRAIN_MS: '2000', WATCHDOG_MS: '0', UPGRADE_SETTLE_MS: '0', ...env };
  const workers = Number(variables.WORKERS);
  const gateway = await startProcess(variables, place);
  const ca = await readFile(join(gateway.place.dataDir, 'ca.pem'), 'utf8');
  const [host = '', port] = gateway.agent.split(':');
  const group: ProcessGroup = {
    gateway,
    ca,
    pid: (which) =>
      childrenOf(gateway.pid).find((pid) => {
        const { role, worker } = roleOf(pid);
        return which === CONTROL ? role === 'control' : role === 'worker' && worker === which;
      }),
    pids: () => childrenOf(gateway.pid),
    kill(which, signal) {
      const pid = group.pid(which);
      if (pid === undefined) throw new Error(`${which} does not run`);
      process.kill(pid, signal);
      return pid;
    },
    async at(worker, open) {
      const indexes = Array.from({ length: workers }, (_, index) => index);
      const others = indexes.filter((index) => index !== worker).map((index) => group.kill(index, 'SIGSTOP'));
      try {
        return await open();
      } finally {
        for (const other of others) if (runs(other)) process.kill(other, 'SIGCONT');
      }
    },
    async connectionAt(worker, protocol = 'http') {
      const settings = { keepAlive: true, maxSockets: 1 };
      const agent = protocol === 'https' ? new HttpsAgent({ ...settings, ca }) : new HttpAgent(settings);
      onTestFinished(() => agent.destroy());
      // The answer proves that it is accepted. Nobody has this name, so no other worker is asked.
      await group.at(worker, () => visit(`${protocol}://nobody.tunnel.localhost/`, gateway[protocol], { agent }));
      return agent;
    },
    async agentAt(worker, { authtoken = gateway.authtoken, timing = {} } = {}) {
      const agent = await group.at(worker, async () => {
        const options = { ...(authtoken === undefined ? {} : { authtoken }), legs: 1 };
        const made = newClient({ host, port: Number(port), ca }, options, { ...PATIENT, ...timing });
        onTestFinished(() => made.client.close());
        await made.until(() => made.client.status.state === 'online');
        return made;
      });
      await agent.until(() => Boolean(agent.client.status.legs[0]?.node));
      expect(group.workerOf(agent)).toBe(worker);
      return agent;
    },
    workerOf({ client }) {
      const pid = ownerOf(join(gateway.place.dataDir, 'run', `${client.status.legs[0]?.node}.sock`), group.pids());
      return pid === undefined ? undefined : roleOf(pid).worker;
    },
    async settled() {
      const query = '{ gatewayInfo { nodes { isReachable } } }';
      await eventually(async () => {
        const { nodes } = await group.graphql(query);
        expect(nodes).toEqual(Array.from({ length: workers + 1 }, () => ({ isReachable: true })));
      }, SETTLES);
    },
    async graphql(query, variables) {
      const { body } = await gateway.call('POST', '/graphql', { query, variables });
      expect(body?.errors).toBeUndefined();
      return answerOf(query, body.data);
    },
    async close() {
      // One that a failed test has stopped would not end.
      for (const pid of group.pids()) process.kill(pid, 'SIGCONT');
      await gateway.kill('SIGTERM');
      await gateway.place.remove();
    },
  };
  try {
    await group.settled();
    return group;
  } catch (error) {
    await group.close();
    throw error;
  }
}

/** Another control process opens the embedded database anew, which takes seconds where the machine is busy. */
const SETTLES = { timeout: 60_000 };
/** For tests in which one is killed. */
export const LONG = { timeout: 120_000 };

/** The processes that one has started. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

/** Whether a process runs; one whose parent has not noticed its end does not. */
export function runs(pid: number): boolean {
  const stat = readOf(String(pid), 'stat');
  return stat !== '' && !/\) Z /.test(stat);
}

/** Microseconds of CPU that processes have taken so far. */
export function cpuOf(pids: readonly number[]): number {
  const ticks = (pid: number) => {
    const fields = readOf(String(pid), 'stat')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  return pids.reduce((sum, pid) => sum + ticks(pid), 0) * TICK_US;
}
/** Linux counts CPU time in hundredths of a second, whatever the processor. */
const TICK_US = 10_000;

function parentOf(pid: string): number {
  const stat = readOf(pid, 'stat');
  return /\) Z /.test(stat) ? Number.NaN : Number(stat.replace(/^.*\) /s, '').split(' ')[1]);
}

function roleOf(pid: number): { role: string | undefined; worker: number | undefined } {
  const environment = readOf(String(pid), 'environ').split('\0');
  const value = (name: string) => environment.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  const worker = value('GATEWAY_WORKER');
  return { role: value('GATEWAY_PROCESS'), worker: worker === undefined ? undefined : Number(worker) };
}

/** Which of some processes listens on a unix socket. */
function ownerOf(path: string, pids: readonly number[]): number | undefined {
  const line = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .find((line) => line.endsWith(` ${path}`) && line.includes(' 00010000 '));
  const socket = `socket:[${line?.trim().split(/\s+/)[6]}]`;
  return pids.find((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === socket);
    } catch {
      return false; // It has ended.
    }
  });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // It has been closed.
  }
}

/** @returns an empty text when it has ended. */
function readOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
