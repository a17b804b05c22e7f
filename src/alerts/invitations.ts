// Asks recipients of e-mail whether alerts may be sent to them.

import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Mailer } from './channels/email.ts';
import { DeliveryError } from './delivery-error.ts';

const HOUR_SECONDS = 60 * 60;
/** How often one account has others asked in a day, and the same address of a channel in an hour, by each process. */
const ACCOUNT_PER_DAY_MAX = 100;

/** A channel that has recipients. */
export interface InvitingChannel {
  id: string;
  accountId: string;
}

export interface InvitationParts {
  mailer: Pick<Mailer, 'invite'>;
  /** The page on which a recipient agrees. */
  urlOf(channel: InvitingChannel, address: string): string;
  /** Called with why a recipient was not asked. */
  onFailure(channel: InvitingChannel, reason: unknown): Promise<void>;
}

export class Invitations {
  readonly #parts: InvitationParts;
  readonly #ofAccount = new RateLimiterMemory({ points: ACCOUNT_PER_DAY_MAX, duration: 24 * HOUR_SECONDS });
  readonly #ofAddress = new RateLimiterMemory({ points: 1, duration: HOUR_SECONDS });
  readonly #running = new Set<Promise<void>>();

  constructor(parts: InvitationParts) {
    this.#parts = parts;
  }

  /** Begins to ask recipients, each at most once an hour. It does not wait for the mail server, and never rejects. */
  send(channel: InvitingChannel, addresses: readonly string[]): void {
    for (const address of addresses) {
      const running: Promise<void> = this.#ask(channel, address).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #ask(channel: InvitingChannel, address: string): Promise<void> {
    const { mailer, urlOf, onFailure } = this.#parts;
    const key = `${channel.id} ${address}`;
    const isTooEarly = await this.#ofAddress.consume(key).catch(() => 'too early');
    if (isTooEarly === 'too early') return;
    try {
      await this.#ofAccount.consume(channel.accountId).catch(() => {
        const message = `the account has had ${ACCOUNT_PER_DAY_MAX} recipients asked in a day`;
        throw new DeliveryError({ code: 'TOO_MANY', message });
      });
      await mailer.invite(address, urlOf(channel, address));
    } catch (error) {
      await this.#ofAddress.delete(key);
      await onFailure(channel, error);
    }
  }
}
