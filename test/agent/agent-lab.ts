// An account of a shared gateway, a service and agents for one test file.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { AgentOptions } from '../../agent/src/run/start-agent.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../support/gateway/gateway.ts';
import { type LocalAgent, newDirectory, startService as startAgentProcess, startLocal } from './agents.ts';
import { type Service, startService } from './visitors.ts';

/**
 * Starts all for the tests of the file that calls this, and stops it after them.
 * @param isProxied whether agents reach the gateway through `proxy`, which can break.
 */
export function agentLab({ isProxied = false } = {}) {
  let gateway: TestGateway;
  let service: Service;
  let proxy: FaultProxy;
  let environment: Record<string, string>;
  const shared = newDirectory();
  const GATEWAY_CA = join(shared.path, 'ca.pem');
  /** Clean-ups of the current test, which run in reverse order. */
  const cleanups: (() => unknown)[] = [];

  beforeAll(async () => {
    gateway = await sharedGatewayWithAccount();
    service = await startService('hello');
    const [host = '', port] = gateway.agent.split(':');
    proxy = await startFaultProxy(host, Number(port));
    writeFileSync(GATEWAY_CA, gateway.ca);
    environment = await newEnvironment();
  });
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
    await proxy.heal();
  });
  afterAll(async () => {
    await proxy.close();
    await service.close();
    shared.remove();
  });

  /** The environment of an agent with a new credential. */
  async function newEnvironment(acl: string[] = [], owner: Pick<TestGateway, 'call'> = gateway) {
    const { body } = await owner.call('POST', '/credentials', { acl });
    const GATEWAY_ADDR = isProxied ? `127.0.0.1:${proxy.port}` : gateway.agent;
    return { TUNNEL_AUTHTOKEN: body.token as string, GATEWAY_ADDR, GATEWAY_CA };
  }

  /** A directory that is removed after the test. */
  function directory(): string {
    const place = newDirectory();
    cleanups.push(place.remove);
    return place.path;
  }

  /** Starts an agent in this process. */
  async function agent(
    env: Record<string, string> = {},
    path = directory(),
    options: AgentOptions = {},
  ): Promise<LocalAgent> {
    const started = await startLocal(path, { ...environment, ...env }, options);
    cleanups.push(() => started.close());
    return started;
  }

  /** Starts an agent as a process of its own, which a test can kill. */
  async function agentProcess(path: string, env: Record<string, string> = {}) {
    const started = await startAgentProcess(path, { ...environment, ...env });
    cleanups.push(() => started.kill('SIGKILL'));
    return started;
  }

  return {
    get gateway() {
      return gateway;
    },
    get service() {
      return service;
    },
    get proxy() {
      return proxy;
    },
    get environment() {
      return environment;
    },
    cleanups,
    newEnvironment,
    directory,
    agent,
    agentProcess,
    /** The body of a request for a tunnel to the service. */
    to: (more: object = {}) => ({ protocol: 'http', forwards_to: service.at, ...more }),
  };
}

/** Matches the log line of a tunnel that has become active. */
export const isActive = (url: string) => new RegExp(`tunnel active.*${url.replaceAll('.', '\\.')}`);
