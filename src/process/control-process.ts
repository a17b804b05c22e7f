// The control process: the API, the dashboard, events and the database, beside workers that carry traffic.

import type { Certificates } from '../edge/tls/certificates.ts';
import { type ReservedAddress, reserveApiAddress } from '../gateway/managed-server.ts';
import { IS_REPLACEMENT, onPrimaryMessage, tellPrimary } from './messages.ts';
import { type ServedGateway, type ServeOptions, serveGateway, type WatchdogKills } from './serve-gateway.ts';
import { sendHeartbeats } from './watchdog.ts';

/** Serves until the primary says otherwise. @param env of the process. */
export async function runControl(
  options: Omit<ServeOptions, 'isGreeted' | 'onServing'>,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const isReplacement = env[IS_REPLACEMENT] !== undefined;
  let gateway: ServedGateway | undefined;
  let address: ReservedAddress | undefined;
  let certificates: Promise<Certificates> | undefined;
  let takeOver = () => {};
  const mayStart = new Promise<void>((resolve) => {
    takeOver = resolve;
  });
  let kills: WatchdogKills = {};
  onPrimaryMessage((message) => {
    const { type } = message;
    if (type === 'watchdogKills') {
      kills = message.kills;
      return;
    }
    if (type === 'takeOver') return takeOver();
    if (!gateway) return void options.output.exit(0);
    if (type === 'stop') gateway.stop('stop');
    if (type === 'handOver') gateway.stop('hand over', true);
  });
  if (isReplacement) {
    // What takes time comes while the control process before still serves. Whoever connects to the API from now on waits, or is
    // served by that one.
    await import('../gateway/gateway.ts');
    const { openControlCertificates } = await import('../gateway/workers/remote-data-plane.ts');
    address = await reserveApiAddress(options.config);
    certificates = openControlCertificates(options.config, options.log);
    certificates.catch(() => {}); // The start of the gateway reports it.
    tellPrimary({ type: 'standby' });
    await mayStart;
  }
  const onStopped = () => tellPrimary({ type: 'handedOver' });
  const onServing = (served: ServedGateway) => {
    gateway = served;
  };
  const watchdogKills = () => kills;
  await serveGateway({
    ...options,
    address,
    certificates,
    onStopped,
    onServing,
    watchdogKills,
    isGreeted: !isReplacement,
  });
  tellPrimary({ type: 'ready' });
  sendHeartbeats(options.config.watchdogMs);
}
