// Audit events. They are written in the transaction of the change that they record, so that both are stored or neither.

import type { Principal } from '../../events/event.ts';
import type { EventName } from '../../events/types.ts';
import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';

/** An audit event that is about to be written. */
export interface AuditEvent {
  type: EventName;
  accountId: string;
  principal: Principal | null;
  /** As the API shows it, in snake_case, without secrets. */
  object: object;
}

/** A transaction whose changes are announced when it is committed, and recorded as audit events. */
export interface AuditContext {
  db: Db;
  announce: Announce;
  /** The URL that the URIs in events begin with, without a slash at its end. */
  baseUrl: string;
}
