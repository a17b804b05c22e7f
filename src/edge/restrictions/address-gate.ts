// One IP restriction of an account, as it acts.

import type { VisitorConnection } from '../../http/exchange.ts';
import type { CloseConnection, ModuleRefusal } from '../../http/module.ts';
import { addressCheck } from '../modules/address-rules.ts';
import { type IpRestrictionEffect, ipRestriction } from '../modules/ip-restriction.ts';
import type { AccountRestriction, RestrictionType } from './restriction-source.ts';

/** Who would have been refused, if the restriction were enforced. */
export interface WouldBeRefusal {
  accountId: string;
  type: RestrictionType;
  ip: string;
  reason: string;
}

/** To visitors it does what the IP restriction module of a route does. */
export class AddressGate implements IpRestrictionEffect {
  readonly #restriction: AccountRestriction;
  readonly #reasonAgainst: (ip: string) => string | undefined;
  readonly #module: IpRestrictionEffect;
  readonly #onWouldRefuse: (refusal: WouldBeRefusal) => void;

  /** @param onWouldRefuse called for each that is let in although the rules do not allow it. */
  constructor(restriction: AccountRestriction, onWouldRefuse: (refusal: WouldBeRefusal) => void) {
    this.#restriction = restriction;
    this.#reasonAgainst = addressCheck(restriction);
    this.#module = ipRestriction(restriction, this.#reasonAgainst);
    this.#onWouldRefuse = onWouldRefuse;
  }

  get name(): string {
    return this.#module.name;
  }

  /** Whether an address is refused now; of one that only would be, nothing is told. */
  refuses(ip: string): boolean {
    return this.#restriction.isEnforced && this.#reasonAgainst(ip) !== undefined;
  }

  /** Why an address is refused; undefined when it is let in. */
  refusal(ip: string): string | undefined {
    const reason = this.#reasonAgainst(ip);
    if (reason === undefined || this.#restriction.isEnforced) return reason;
    const { accountId, type } = this.#restriction;
    this.#onWouldRefuse({ accountId, type, ip, reason });
    return undefined;
  }

  onRequest(exchange: VisitorConnection): ModuleRefusal | undefined {
    if (this.#restriction.isEnforced) return this.#module.onRequest(exchange);
    this.refusal(exchange.visitor.ip);
    return undefined;
  }

  onConnection(connection: VisitorConnection): CloseConnection | undefined {
    if (this.#restriction.isEnforced) return this.#module.onConnection(connection);
    this.refusal(connection.visitor.ip);
    return undefined;
  }
}
