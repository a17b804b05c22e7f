// Delivers the notifications of alerts: tries again what fails, and gives up after a day.

import type { NotificationQueue, WaitingNotification } from './alert-store.ts';
import type { OpenChannel } from './channels/deliver.ts';
import type { AlertCounters, ChannelName } from './counters.ts';
import { failureOf } from './delivery-error.ts';
import type { NotificationBody } from './notification.ts';

/** Notifications under way at once; of each channel one. */
const CONCURRENT = 8;
/** How long a notification belongs to the process that took it; milliseconds. It is sent within a third of that, or not. */
const LEASE_MS = 60_000;
/** After so long it is given up; milliseconds. */
const GIVE_UP_MS = 24 * 60 * 60_000;
const WAIT_MS = { first: 5000, most: 15 * 60_000 };

export interface NotifierParts {
  queue: NotificationQueue;
  deliver(channel: OpenChannel, body: NotificationBody): Promise<string>;
  counters: AlertCounters;
  /** The time of the database, in milliseconds. */
  now(): number;
  random(): number;
  /** Called when the outcome cannot be stored. It is sent once more after its lease. */
  onFailure(error: unknown): void;
}

export class Notifier {
  readonly #parts: NotifierParts;
  /** By the ids of their channels. */
  readonly #running = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Begins to send what is due. It does not wait for it. */
  async sendDue(): Promise<void> {
    const free = CONCURRENT - this.#running.size;
    if (free <= 0 || this.#isClosed) return;
    const due = await this.#parts.queue.claim(free, LEASE_MS, [...this.#running.keys()]);
    for (const notification of due) this.#start(notification);
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#running.values());
  }

  #start(notification: WaitingNotification): void {
    const { channelId } = notification;
    const running = this.#send(notification)
      .catch(this.#parts.onFailure)
      .finally(() => this.#running.delete(channelId));
    this.#running.set(channelId, running);
  }

  async #send(notification: WaitingNotification): Promise<void> {
    const { queue, deliver, counters } = this.#parts;
    const { channel, body } = notification;
    const kind = nameOf(channel);
    if (!channel) {
      await queue.toEvents(notification);
      counters.sent[kind]++;
      return;
    }
    let warning: string;
    try {
      warning = await deliver(channel, body);
    } catch (error) {
      return this.#failed(notification, error);
    }
    counters.sent[kind]++;
    await queue.sent(notification, warning);
  }

  async #failed(notification: WaitingNotification, error: unknown): Promise<void> {
    const { queue, counters, now, random } = this.#parts;
    const { attempts, createdAt } = notification;
    const kind = nameOf(notification.channel);
    const { code, message } = failureOf(error);
    const at = now();
    // Full jitter would make the second attempt of half of them at once.
    const waitMs = Math.min(WAIT_MS.most, WAIT_MS.first * 2 ** attempts) * (0.5 + random() / 2);
    const isGivenUp = at + waitMs - createdAt > GIVE_UP_MS;
    counters.failed[kind]++;
    if (isGivenUp) counters.givenUp[kind]++;
    await queue.failed(notification, `${code}: ${message}`, isGivenUp ? null : at + waitMs);
  }
}

function nameOf(channel: OpenChannel | null): ChannelName {
  if (!channel) return 'events';
  return channel.kind === 'EMAIL' ? 'email' : 'webhook';
}
