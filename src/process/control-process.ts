// The control process: the API, the dashboard, events and the database, beside workers that carry traffic.

import type { Certificates } from '../edge/tls/certificates.ts';
import { type ReservedAddress, reserveApiAddress } from '../gateway/managed-server.ts';
import { ADMIN_URL, IS_REPLACEMENT, onPrimaryMessage, tellPrimary } from './messages.ts';
import { tellLastCounts, tellMetrics } from './own-metrics.ts';
import { type ServedGateway, type ServeOptions, serveGateway } from './serve-gateway.ts';
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
  onPrimaryMessage(({ type }) => {
    if (type === 'takeOver') return takeOver();
    if (!gateway) return void options.output.exit(0);
    if (type === 'stop') gateway.stop('stop');
    if (type === 'handOver') gateway.stop('hand over', true);
    if (type === 'tellMetrics') void tellMetrics(gateway.registry);
    if (type === 'tellReadiness')
      void gateway.reasonNotReady().then((reason) => tellPrimary({ type: 'readiness', reason }));
  });
  if (isReplacement) {
    // What takes time comes while the control process before still serves. Whoever connects to the API from now on waits, or is
    // served by that one.
    await import('../gateway/gateway.ts');
    const { openControlCertificates } = await import('../gateway/workers/remote-data-plane.ts');
    address = await reserveApiAddress(options.config);
    certificates = openControlCertificates(options.config, options.log);
    certificates.catch(() => {}); // The start of the gateway reports it.
    void tellPrimary({ type: 'standby' });
    await mayStart;
  }
  // A primary of a release before has none: then this process has the listener, and it tells its own metrics alone.
  const adminUrl = env[ADMIN_URL];
  const admin = adminUrl === undefined ? undefined : { url: adminUrl };
  const onStopped = async () => {
    if (gateway) await tellLastCounts(gateway.registry);
    await tellPrimary({ type: 'handedOver' });
  };
  const onServing = (served: ServedGateway) => {
    gateway = served;
  };
  const isGreeted = !isReplacement;
  const served = await serveGateway({ ...options, address, certificates, admin, onStopped, onServing, isGreeted });
  await tellMetrics(served.registry);
  void tellPrimary({ type: 'ready' });
  sendHeartbeats(options.config.watchdogMs);
}
