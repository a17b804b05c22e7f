// The commands for one tunnel, such as `http 3000` and `labels 3000`. They run without the local API. Where AGENT_STATE_FILE is set, as
// in an installed service, the tunnel has the same address after a restart of the device.

import { createClient } from '../client/index.ts';
import type { ClientOptions, LabelTunnelSpec, Resumption, SessionIdentity, TunnelSpec } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import type { AgentConfig } from '../settings/config.ts';
import { writeLabels } from '../settings/labels.ts';
import { usable } from '../tunnels/named-endpoints.ts';
import { openState } from '../tunnels/open-state.ts';
import { type EndReason, remoteCommands } from './remote-commands.ts';

/** A run of the agent. */
export interface AgentRun {
  /** Resolves when a remote command ends the run. */
  ended: Promise<EndReason>;
  /** Resolves when all connections are closed. */
  close(): Promise<void>;
}

/** The state that survives a restart by a remote command, so that the URL stays the same. */
export interface RestartState {
  identity: SessionIdentity | null;
  resume: Resumption | null;
  /** Called when it has changed. */
  onChange(): void;
  /** Releases what it is kept in. */
  close(): Promise<void>;
}

/** The state of a run that keeps nothing beyond it. */
export function inMemory(): RestartState {
  return { identity: null, resume: null, onChange() {}, close: async () => {} };
}

/**
 * The state in the state file. What else is in the file, as of the command `start`, stays.
 * @throws {Error} as `openState` does.
 */
export async function inStateFile(file: string, spec: SingleTunnelSpec, log: Log): Promise<RestartState> {
  const open = await openState(file, log);
  const { loaded } = open;
  // No endpoint of a configuration file has such a name.
  const name = 'labels' in spec ? '' : `${spec.protocol} ${spec.domain ?? ''}`;
  const kept: RestartState = {
    identity: loaded.identity,
    resume: 'labels' in spec ? null : usable(loaded.endpoints[name], spec),
    onChange: () => void open.save().catch(() => {}), // It is told where it is tried again.
    close: open.close,
  };
  open.state = () => ({
    ...loaded,
    identity: kept.identity,
    endpoints: kept.resume ? { ...loaded.endpoints, [name]: kept.resume } : loaded.endpoints,
  });
  return kept;
}

type SingleTunnelSpec = Omit<TunnelSpec, 'resume'> | LabelTunnelSpec;

/**
 * Opens the tunnel. It prints the URL whenever that changes, or the labels once. The client logs failures and retries for
 * as long as the run lasts.
 * @param authtoken as in `ClientOptions`.
 * @param restartState the state to resume from, which the run updates.
 */
export function runSingleTunnel(
  config: AgentConfig,
  authtoken: ClientOptions['authtoken'],
  spec: SingleTunnelSpec,
  restartState: RestartState,
  log: Log,
  print: (line: string) => void,
): AgentRun {
  const { commands, ended } = remoteCommands();
  let printedAddress: string | null = null;
  const update = () => {
    restartState.resume = tunnel.resumption;
    restartState.onChange();
    const address = 'labels' in spec ? `serving ${writeLabels(spec.labels)}` : `forwarding ${tunnel.url}`;
    if (tunnel.state !== 'active' || address === printedAddress) return;
    printedAddress = address;
    print(`${address} -> ${spec.forwardsTo}`);
  };
  const client = createClient(
    {
      authtoken,
      gateways: config.gateways,
      legs: config.legs,
      ca: config.ca,
      proxyFor: config.proxyFor,
      identity: restartState.identity,
      metadata: '',
      self: { deviceId: '', name: config.name, labels: config.labels },
      addresses: (host) => config.forwardsTo.addresses(host),
      commands,
      onChange: () => setImmediate(update),
      onIdentity: (identity) => {
        restartState.identity = identity;
      },
      log,
    },
    { drain: config.drainMs },
  );
  const tunnel = client.open('labels' in spec ? spec : { ...spec, resume: restartState.resume });
  return {
    ended,
    async close() {
      await client.close();
      await restartState.close();
    },
  };
}
