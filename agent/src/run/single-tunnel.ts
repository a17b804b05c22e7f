// The commands for one tunnel, such as `http 3000` and `labels 3000`. They run without the local API and without a state
// file.

import { createClient } from '../client/index.ts';
import type { ClientOptions, LabelTunnelSpec, Resumption, SessionIdentity, TunnelSpec } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import type { AgentConfig } from '../settings/config.ts';
import { writeLabels } from '../settings/labels.ts';
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
}

/**
 * Opens the tunnel. It prints the URL whenever that changes, or the labels once. The client logs failures and retries for
 * as long as the run lasts.
 * @param authtoken as in `ClientOptions`.
 * @param restartState the state to resume from, which the run updates.
 */
export function runSingleTunnel(
  config: AgentConfig,
  authtoken: ClientOptions['authtoken'],
  spec: Omit<TunnelSpec, 'resume'> | LabelTunnelSpec,
  restartState: RestartState,
  log: Log,
  print: (line: string) => void,
): AgentRun {
  const { commands, ended } = remoteCommands();
  let printedAddress: string | null = null;
  const update = () => {
    restartState.resume = tunnel.resumption;
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
  return { ended, close: () => client.close() };
}
