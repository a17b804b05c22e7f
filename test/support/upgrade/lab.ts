// A gateway with workers, agents of both kinds, and visitors, to be upgraded.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newClient, PATIENT } from '../../agent/client/support.ts';
import { childrenOf } from '../../workers/support.ts';
import { httpName, openSdkSession } from '../agents/sdk.ts';
import { eventually } from '../eventually.ts';
import { newPlace } from '../gateway/place.ts';
import { type GatewayProcess, startProcess } from '../gateway/process.ts';
import { root } from '../root.ts';
import { visit } from '../visit.ts';
import { Load, type LoadOptions, startOrigin } from './load.ts';

const START_MS = 60_000;
/** How long an upgrade may take on a busy machine, in milliseconds. */
const UPGRADE_MS = 120_000;

type Streams = 'connections' | 'webSockets' | 'eventStreams' | 'pauseMs' | 'apiPauseMs';

export interface LabOptions extends Pick<LoadOptions, Streams> {
  /** Agents of ours, and those that are programs with an SDK. */
  agents: number;
  sdkAgents: number;
  env?: Record<string, string>;
}

export interface UpgradeLab {
  gateway: GatewayProcess;
  load: Load;
  /** Upgrades by SIGHUP. @returns how long the API and binds waited, in milliseconds. */
  upgrade(): Promise<number>;
  /** Upgrades as `npm run upgrade` does. @returns what it prints. */
  upgradeByTool(): Promise<string>;
  /** How long each agent with an SDK that was moved was away, in milliseconds. */
  sdkAwayMs(): number[];
  /** How many agents with an SDK were sent to another process while the next ones were started. */
  sdkMovesDuringUpgrades(): number;
  /** The states in which agents of ours were since the upgrades began. */
  ownStates(): ReadonlySet<string>;
  /** What the primary holds when the generations before have ended. */
  primary(): Promise<PrimaryResources>;
  /** Warnings of Node.js in the log, such as those about too many listeners. */
  warnings(): string[];
  /** Ends all. @returns the failures, and the exit code of the gateway. */
  end(): Promise<{ failures: Record<string, number>; code: number | null }>;
}

/** As `primary-resources.mjs` writes it. */
export interface PrimaryResources {
  /** Timers, sockets and others, by their type. */
  resources: Record<string, number>;
  listeners: Record<string, number>;
  descriptors: number;
  /** Bytes. */
  rss: number;
}

interface LogLine {
  time: string;
  msg: string;
  credentialId?: string;
  sessionId?: string;
  reason?: string;
  ms?: number;
  err?: { message: string };
}

/** @throws what a part fails with; the gateway has ended then. */
export async function startUpgradeLab(options: LabOptions): Promise<UpgradeLab> {
  const place = await newPlace();
  const file = join(place.dataDir, 'primary-resources');
  const env = {
    ...{ WORKERS: '2', DRAIN_MS: '1000', UPGRADE_SETTLE_MS: '0' },
    NODE_OPTIONS: `--import=${join(root, 'test/support/upgrade/primary-resources.mjs')}`,
    PRIMARY_RESOURCES_FILE: file,
    ...options.env,
  };
  const gateway = await startProcess(env, place).catch(async (error) => {
    await place.remove();
    throw error;
  });
  try {
    return await fill(gateway, options, file);
  } catch (error) {
    await gateway.kill('SIGTERM');
    await gateway.place.remove();
    throw error;
  }
}

async function fill(gateway: GatewayProcess, options: LabOptions, file: string): Promise<UpgradeLab> {
  const ends: (() => unknown)[] = [];
  const origin = await startOrigin();
  const lines = () => gateway.stderr.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
  const count = (text: string) => lines().filter(({ msg }) => msg.startsWith(text)).length;
  await eventually(() => count('all processes serve') || Promise.reject(new Error('not yet')), { timeout: START_MS });
  const ca = readFileSync(join(gateway.place.dataDir, 'ca.pem'), 'utf8');
  const [host = '', port] = gateway.agent.split(':');

  const names: string[] = [];
  const sdkCredentials = new Set<string>();
  const ownStates = new Set<string>();
  for (let index = 0; index < options.agents; index++) {
    const name = `own-${index}.tunnel.localhost`;
    const agent = newClient({ host, port: Number(port), ca }, { authtoken: gateway.authtoken ?? '' }, PATIENT);
    await agent.open({ domain: name, forwardsTo: `127.0.0.1:${origin.port}` }).answered;
    let isEnding = false;
    void agent.until(() => {
      if (!isEnding) ownStates.add(agent.client.status.state);
      return isEnding;
    });
    ends.push(() => {
      isEnding = true;
      return agent.client.close();
    });
    names.push(name);
  }
  for (let index = 0; index < options.sdkAgents; index++) {
    const name = `sdk-${index}.tunnel.localhost`;
    const { body } = await gateway.call('POST', '/credentials', { description: name });
    const { id, token } = body as { id: string; token: string };
    sdkCredentials.add(id);
    const { session, close } = await openSdkSession({ agent: gateway.agent, ca }, token);
    ends.push(close);
    await httpName(session, name).listenAndForward(`http://127.0.0.1:${origin.port}`);
    names.push(name);
  }
  for (const name of names)
    await eventually(async () => {
      const { status } = await visit(`http://${name}/`, gateway.http, { headers: { connection: 'close' } });
      if (status !== 200) throw new Error(`${name}: ${status}`);
    });
  // A quarter of the agents has long streams: those stay where they are.
  const streamNames = names.filter((_, index) => index % 4 === 0);
  const load = new Load({ gateway, names, streamNames, ...options });
  await load.start();

  /** What became of agents with an SDK, as the log tells it. */
  const sdkEvents = () => {
    const credentials = new Map<string, string>();
    return lines().flatMap(({ msg, sessionId = '', credentialId = '', reason = '', time }) => {
      const isConnected = msg === 'agent connected' && sdkCredentials.has(credentialId);
      if (isConnected) credentials.set(sessionId, credentialId);
      const isMoved = msg === 'agent disconnected' && reason.includes('moves') && credentials.has(sessionId);
      if (!isConnected && !isMoved) return [];
      const event = isConnected ? 'connected' : 'moved';
      return [{ event, credentialId: credentials.get(sessionId) ?? '', at: Date.parse(time) } as const];
    });
  };
  const serving = 'upgrade: the new processes serve';
  const upgraded = async (before: number) => {
    await eventually(
      () => {
        if (count('upgrade failed') > 0) throw new Error('the upgrade has failed');
        if (count(serving) === before) throw new Error('the new processes do not serve yet');
      },
      { timeout: UPGRADE_MS },
    );
    return lines().findLast(({ msg }) => msg.includes('new control process'))?.ms ?? Number.NaN;
  };
  return {
    gateway,
    load,
    upgrade() {
      const before = count(serving);
      process.kill(gateway.pid, 'SIGHUP');
      return upgraded(before);
    },
    async upgradeByTool() {
      const env = { PATH: process.env.PATH, WORKERS: '2', ...gateway.place.env, ...options.env };
      const tool = spawn(process.execPath, [join(root, 'dist/tools/upgrade.js')], { env });
      let printed = '';
      for (const stream of [tool.stdout, tool.stderr]) stream.on('data', (chunk) => (printed += chunk));
      const [code] = await once(tool, 'close');
      if (code !== 0) throw new Error(printed);
      return printed;
    },
    ownStates: () => ownStates,
    sdkAwayMs() {
      const left = new Map<string, number>();
      const away: number[] = [];
      for (const { event, credentialId, at } of sdkEvents()) {
        const since = left.get(credentialId);
        if (event === 'moved') left.set(credentialId, at);
        if (event === 'connected' && since !== undefined) away.push(at - since);
        if (event === 'connected') left.delete(credentialId);
      }
      return away;
    },
    sdkMovesDuringUpgrades() {
      const timesOf = (text: string) =>
        lines().flatMap(({ msg, time }) => (msg.startsWith(text) ? [Date.parse(time)] : []));
      const [begun, over] = [timesOf('upgrade: starting new processes'), timesOf(serving)];
      const isDuring = (at: number) =>
        begun.some((from, index) => from < at && at < (over[index] ?? Number.POSITIVE_INFINITY));
      return sdkEvents().filter(({ event, at }) => event === 'moved' && isDuring(at)).length;
    },
    async primary() {
      const processes = Number(options.env?.WORKERS ?? 2) + 1;
      await eventually(() => expect(childrenOf(gateway.pid)).toHaveLength(processes), { timeout: UPGRADE_MS });
      rmSync(file, { force: true });
      process.kill(gateway.pid, 'SIGUSR2');
      return eventually(() => JSON.parse(readFileSync(file, 'utf8')) as PrimaryResources);
    },
    warnings: () => lines().flatMap(({ msg, err }) => (msg === 'Node.js warning' && err ? [err.message] : [])),
    async end() {
      const failures = await load.end();
      await Promise.all(ends.map((end) => end()));
      origin.close();
      const code = await gateway.kill('SIGTERM');
      await gateway.place.remove();
      return { failures, code };
    },
  };
}
