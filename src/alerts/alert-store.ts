// What alerts ask of the database.

import type { OpenChannel } from './channels/deliver.ts';
import type { Condition } from './conditions.ts';
import type { AlertDecision, RuleState } from './decide.ts';
import type { Finding } from './finding.ts';
import type { NotificationBody } from './notification.ts';

/** All rules that are switched on or have an alert, and the time of the database; milliseconds. */
export interface RuleStates {
  at: number;
  rules: RuleState[];
}

export interface AlertStore {
  rules(): Promise<RuleStates>;
  /**
   * Lets this node alone evaluate rules for so many milliseconds.
   * @returns whether it may. Another one may until its lease ends or it is lost.
   */
  lease(ms: number): Promise<boolean>;
  /** What there is of a condition, by the ids of its rules; in one statement for all rules. Rules without anything are left out. */
  find(condition: Condition): Promise<Map<string, Finding>>;
  /**
   * Writes what was decided of a rule, with the notifications of it, in one transaction; nothing when somebody changed rule or alert
   * meanwhile.
   */
  apply(rule: RuleState, finding: Finding, decision: AlertDecision, at: number): Promise<void>;
  /** Deletes alerts that were resolved long ago, and silences that are over. */
  sweep(at: number): Promise<void>;
}

/** A notification that waits, leased to this process. */
export interface WaitingNotification {
  id: string;
  alertId: string;
  channelId: string;
  accountId: string;
  leaseToken: string;
  /** Failures before. */
  attempts: number;
  createdAt: number;
  body: NotificationBody;
  /** Null: it goes to the pipeline of events, which is in the database. */
  channel: OpenChannel | null;
}

/** The outbox of notifications. */
export interface NotificationQueue {
  /**
   * Leases notifications that are due, the oldest of each channel. Of one alert, a channel gets them in their order.
   * @param skipped channels that are busy in this process.
   */
  claim(limit: number, leaseMs: number, skipped: readonly string[]): Promise<WaitingNotification[]>;
  /** It was taken. @param warning what the channel shows as its last error; '' for none. */
  sent(notification: WaitingNotification, warning: string): Promise<void>;
  /** It was not taken. @param nextAt when it is tried again, in milliseconds; null: it is given up. */
  failed(notification: WaitingNotification, reason: string, nextAt: number | null): Promise<void>;
  /** Writes the event that a notification is, and that it is done, in one transaction. */
  toEvents(notification: WaitingNotification): Promise<void>;
}
