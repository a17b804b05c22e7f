// Audit events: written in the transaction of what they tell of, so that both are there or neither.

import type { Principal } from '../../events/event.ts';
import type { EventName } from '../../events/types.ts';
import type { Changes } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';

/** An audit event that is about to be written. */
export interface AuditEvent {
  type: EventName;
  accountId: string;
  principal: Principal | null;
  /** As the API shows it, in snake_case, without secrets. */
  object: object;
}

/** Tells of a change, once its transaction is committed. */
export type Announce = Parameters<Parameters<Changes['transaction']>[1]>[1];

/** A transaction whose changes are told: announced at once when it is committed, and as events. */
export interface AuditContext {
  db: Db;
  announce: Announce;
  /** What the URIs in events begin with: no slash at its end. */
  baseUrl: string;
}
