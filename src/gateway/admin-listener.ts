// Opens the admin listener: in the process of a gateway, or in the primary of several.

import type { Config } from '../config/config.ts';
import { ADMIN_CONNECTIONS_MAX, type AdminAnswers, createAdminServer } from '../monitoring/admin-server.ts';
import { reserveAddress, stopperOf } from './managed-server.ts';

export interface AdminListener {
  url: string;
  /** Ends it, with all of its connections. */
  stop(): Promise<void>;
}

/** @throws when the address cannot be bound. */
export async function openAdminListener(
  { adminPort, host, ownNames, inheritedSockets }: Config,
  answers: AdminAnswers,
): Promise<AdminListener> {
  const server = createAdminServer(answers, ownNames);
  const stop = stopperOf(server);
  const address = await reserveAddress('http', adminPort, host, ADMIN_CONNECTIONS_MAX, inheritedSockets.admin);
  await address.serve(server);
  return { url: address.url, stop: () => stop(0) };
}
