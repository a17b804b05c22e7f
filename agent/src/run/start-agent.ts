// The command `start`: the local API, the tunnels that were created through it, and the tunnel that publishes the API.

import { type ClientTiming, createClient } from '../client/index.ts';
import { authtokenOf } from '../device/authtoken.ts';
import { deviceFileOf, openDevice } from '../device/device-file.ts';
import type { ClientOptions, SessionIdentity } from '../gateway-client.ts';
import { routes } from '../local-api/routes.ts';
import { openApi } from '../local-api/server.ts';
import type { Log } from '../log.ts';
import type { AgentConfig } from '../settings/config.ts';
import { type HostAddress, writeAddress } from '../settings/host-address.ts';
import type { NamedEndpoint } from '../tunnels/config-file.ts';
import { NamedEndpoints } from '../tunnels/named-endpoints.ts';
import { type OpenState, openState } from '../tunnels/open-state.ts';
import { openDefaultPolicy } from '../tunnels/policy.ts';
import type { AgentState } from '../tunnels/state-format.ts';
import { TunnelTable } from '../tunnels/tunnel-table.ts';
import { createHealth } from './health.ts';
import { type Publication, publishApi } from './publish-api.ts';
import { remoteCommands } from './remote-commands.ts';
import type { AgentRun } from './single-tunnel.ts';

/** The default of `AgentOptions.answerTimeout`; milliseconds. */
const BIND_TIMEOUT_MS = 10_000;
/** The time in which open requests of the local API may complete when the agent stops; milliseconds. */
const SHUTDOWN_GRACE_MS = 2_000;

/** A running agent. */
export interface RunningAgent extends AgentRun {
  /** The base URL of the local API, as in `http://127.0.0.1:8000`. */
  api: string;
}

/** What differs from an agent with nothing but its local API. */
export interface AgentOptions {
  /** The endpoints of the configuration file that are to be opened. */
  endpoints?: readonly NamedEndpoint[];
  /** How long the creation of a tunnel waits for the gateway's response; milliseconds. */
  answerTimeout?: number;
  /** Timeouts and delays of the client that differ from the defaults. */
  timing?: Partial<ClientTiming>;
}

/**
 * Starts the agent. When this resolves, tunnels are restored in the background, and the API accepts requests, unless another program
 * has its address: then it is tried again.
 * @param print prints a line to standard output, for a person or a program that waits for it.
 * @throws {Error} when the state file is in use, or the API cannot listen on its address for a reason that does not pass.
 */
export async function startAgent(
  config: AgentConfig,
  log: Log,
  print: (line: string) => void,
  options: AgentOptions = {},
): Promise<RunningAgent> {
  const file = await openState(config.stateFile, log);
  try {
    return await start(config, log, print, options, file);
  } catch (error) {
    file.release();
    throw error;
  }
}

async function start(
  config: AgentConfig,
  log: Log,
  print: (line: string) => void,
  { endpoints = [], answerTimeout = BIND_TIMEOUT_MS, timing = {} }: AgentOptions,
  file: OpenState,
): Promise<RunningAgent> {
  const { loaded } = file;
  const device = await openDevice(deviceFileOf(config.stateFile), log);
  const api = await openApi(config.apiAddress, log, (address) => print(`ready api=http://${writeAddress(address)}`));
  const ownAddress = reachableAddress(api.address);

  const { commands, ended } = remoteCommands();
  const defaultPolicy = openDefaultPolicy(config.policyFile, loaded.defaultPolicy, log);
  let identity: SessionIdentity | null = loaded.identity;
  const clientOptions: ClientOptions = {
    authtoken: authtokenOf(config, device, log),
    gateways: config.gateways,
    legs: config.legs,
    ca: config.ca,
    proxyFor: config.proxyFor,
    identity,
    metadata: '',
    self: { deviceId: device.id, name: config.name, labels: config.labels },
    addresses: async (host, port) =>
      writeAddress({ host, port }) === ownAddress ? [host] : config.forwardsTo.addresses(host),
    commands,
    onChange: () => setImmediate(updateTunnels),
    onIdentity: (newIdentity) => {
      identity = newIdentity;
    },
    log,
  };
  const client = createClient(clientOptions, { drain: config.drainMs, ...timing });
  const tunnels = new TunnelTable({
    client,
    allowList: config.forwardsTo,
    defaultPolicy,
    ownDomain: config.domain,
    answerTimeout,
    save: file.save,
    log,
  });
  tunnels.restore(loaded.tunnels);
  const { endpoints: resumptions } = loaded;
  const named = new NamedEndpoints(endpoints, { client, defaultPolicy, resumptions, print, log });
  const publication = publish();
  file.state = state;

  function publish(): Publication | null {
    const { domain, apiToken } = config;
    if (domain === null) return null;
    if (apiToken === null)
      log('warn', 'whoever knows AGENT_DOMAIN can open tunnels of this agent, as there is no AGENT_API_TOKEN', {
        domain,
      });
    try {
      return publishApi({ client, domain, forwardsTo: ownAddress, defaultPolicy, resume: loaded.api, print });
    } catch (error) {
      log('error', 'the API is not published, as there is no policy for it', { reason: (error as Error).message });
      return null;
    }
  }

  function state(): AgentState {
    return {
      identity,
      defaultPolicy: defaultPolicy.lastGood,
      api: publication === null ? loaded.api : publication.resume,
      tunnels: tunnels.saved,
      endpoints: named.resumptions,
    };
  }

  function updateTunnels(): void {
    publication?.update();
    named.update();
    tunnels.update();
  }

  const health = createHealth({ config, client, tunnels, endpoints: named.all, file, publication });
  const access = { boundHost: config.apiAddress.host, domain: config.domain, token: config.apiToken };
  api.serve(routes(tunnels, health), access, (status) => {
    health.responses.set(status, (health.responses.get(status) ?? 0) + 1);
  });

  return {
    api: `http://${writeAddress(api.address)}`,
    ended,
    async close() {
      const apiClosed = api.close(SHUTDOWN_GRACE_MS);
      await client.close();
      await apiClosed;
      await file.close();
    },
  };
}

/** An address that reaches the API, also when it listens on all addresses. */
function reachableAddress({ host, port }: HostAddress): string {
  const loopback: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return writeAddress({ host: loopback[host] ?? host, port });
}
