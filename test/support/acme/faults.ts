// What an ACME server can be told to do wrong.

/** What a request asks for, named as in the directory or after the object. */
export type AcmeResource =
  | 'directory'
  | 'newNonce'
  | 'newAccount'
  | 'newOrder'
  | 'revokeCert'
  | 'keyChange'
  | 'renewalInfo'
  | 'order'
  | 'finalize'
  | 'authorization'
  | 'challenge'
  | 'certificate';

/** How requests are refused. */
export interface AcmeRefusal {
  status: number;
  /** Such as `rateLimited`. Left out: the answer is no problem document, but a page of a proxy. */
  type?: string;
  detail?: string;
  /** A number of seconds or a date. */
  retryAfter?: string;
  instance?: string;
  /** For so many requests; all when left out. */
  times?: number;
}

/** May be changed at any time. */
export interface AcmeFaults {
  /** How many good nonces are refused: 0.3 is 30 %. */
  nonceRejection: number;
  refuse: Partial<Record<AcmeResource, AcmeRefusal>>;
  /** Names that are refused in orders (`rejectedIdentifier`), which the subproblems name. */
  rejectedNames: string[];
  /** Orders stay in the status `processing` for as long as this is true. */
  stuckOrders: boolean;
  /** Certificates are not what was ordered: for other names, for another key, expired a day ago, or valid in an hour or in two days. */
  wrongCertificates?: 'names' | 'key' | 'expired' | 'soon' | 'future';
  /** Called when a request has come, and before it is answered: it may hold the answer. What resolves to `lost` goes no further. */
  onRequest?(resource: AcmeResource, moment: 'asked' | 'answered'): Promise<unknown> | undefined;
  /** Called before a name is validated, by the key that the account has after it: it may hold that. */
  onValidation?(name: string): Promise<void> | undefined;
  /** Challenges have this token. */
  token?: string;
  /** How far the clock of the authority is from that of the gateway, in milliseconds. */
  clockAhead?: number;
  /** Orders become invalid with this detail when they are finalized. */
  invalidOrders?: string;
  /** Authorizations become invalid with this detail, without a validation. */
  invalidAuthorizations?: string;
  /** A failed challenge stays pending and can be tried again (RFC 8555, section 8.2), as that of smallstep. */
  keepsFailedChallenges: boolean;
  /** Valid authorizations are used for later orders. */
  reusesAuthorizations: boolean;
  /** An order for the names of one that is pending or ready is that one. */
  reusesOrders: boolean;
  /** Authorizations also offer challenges that no client knows. */
  offersUnknownChallenges: boolean;
  /** And no others. */
  offersOnlyUnknownChallenges?: boolean;
  /** For orders that are pending or processing and authorizations that are pending: a number of seconds or a date. */
  retryAfter?: string;
  /** The window of every certificate, in milliseconds since 1970, in place of the one that follows from its lifetime. */
  renewalWindow?: { start: number; end: number; explanationURL?: string };
}

export const noFaults = (): AcmeFaults => ({
  nonceRejection: 0,
  refuse: {},
  rejectedNames: [],
  stuckOrders: false,
  keepsFailedChallenges: false,
  reusesAuthorizations: false,
  reusesOrders: false,
  offersUnknownChallenges: false,
});

/** An error that the server answers with (RFC 8555, section 6.7). */
export class AcmeRefused extends Error {
  readonly status: number;
  /** Without its prefix. */
  readonly type: string;
  readonly more: { subproblems?: object[]; instance?: string };

  constructor(status: number, type: string, detail: string, more: AcmeRefused['more'] = {}) {
    super(detail);
    this.status = status;
    this.type = type;
    this.more = more;
  }
}

export const problemDocument = ({ status, type, message, more }: AcmeRefused) => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail: message,
  status,
  ...more,
});

/** The refusal of this request, which counts it. */
export function refusalFor(faults: AcmeFaults, resource: AcmeResource): AcmeRefusal | undefined {
  const refusal = faults.refuse[resource];
  if (refusal?.times === undefined) return refusal;
  if (refusal.times <= 0) return undefined;
  refusal.times--;
  return refusal;
}
