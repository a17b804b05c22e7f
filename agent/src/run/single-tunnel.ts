// `http 3000`, `labels 3000` and their like: one tunnel for as long as the process runs, without API and without state file.

import { createClient } from '../client/index.ts';
import type { LabelTunnelSpec, Resumption, SessionIdentity, TunnelSpec } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import type { AgentConfig } from '../settings/config.ts';
import { writeLabels } from '../settings/labels.ts';
import { type EndReason, remoteCommands } from './remote-commands.ts';

/** A run of the agent. */
export interface AgentRun {
  /** Resolves when the gateway asked for an end. */
  ended: Promise<EndReason>;
  /** Resolves when all connections are closed. */
  close(): Promise<void>;
}

/** What a restart asked for from afar keeps, so that the URL stays the same. */
export interface RestartState {
  identity: SessionIdentity | null;
  resume: Resumption | null;
}

/**
 * Opens the tunnel, and says so on standard output whenever its URL is new, or once where it has labels in its place. The client logs what goes wrong, and tries
 * again for as long as this runs.
 * @param restartState is kept up to date.
 */
export function runSingleTunnel(
  config: AgentConfig,
  spec: Omit<TunnelSpec, 'resume'> | LabelTunnelSpec,
  restartState: RestartState,
  log: Log,
  print: (line: string) => void,
): AgentRun {
  const { commands, ended } = remoteCommands();
  let printed: string | null = null;
  const update = () => {
    restartState.resume = tunnel.resumption;
    const what = 'labels' in spec ? `serving ${writeLabels(spec.labels)}` : `forwarding ${tunnel.url}`;
    if (tunnel.state !== 'active' || what === printed) return;
    printed = what;
    print(`${what} -> ${spec.forwardsTo}`);
  };
  const client = createClient(
    {
      authtoken: config.authtoken,
      gateway: config.gateway,
      ca: config.ca,
      identity: restartState.identity,
      metadata: '',
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
