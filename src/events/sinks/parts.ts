// What a sink is made with, besides its target.

import type { EventSettings } from '../settings.ts';
import type { Outbound } from './http/outbound.ts';

export interface SinkContext {
  settings: EventSettings;
  /** Shared by all sinks, so that none may close it. */
  outbound: Outbound;
  /** `ed_…` */
  destinationId: string;
  /** Of the account that the destination belongs to. */
  accountId: string;
  /** The wall clock, in milliseconds. */
  now(): number;
}
