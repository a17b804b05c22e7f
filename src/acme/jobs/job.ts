// The work of obtaining one certificate and keeping it current, as it is stored. Each step is short: it reads the job, asks the authority
// once or twice, and stores what comes next and when. A process that dies in between leaves a job that another one goes on with.

/** How far a certificate has come. The last three are where a job waits for the clock, or for a person. */
export type JobState =
  | 'WAITING_DNS'
  | 'PREFLIGHT'
  | 'ORDERING'
  | 'VALIDATING'
  | 'FINALIZING'
  | 'ISSUED'
  | 'FAILED_RETRYING'
  | 'PAUSED';

export type ChallengeKind = 'http-01' | 'tls-alpn-01' | 'dns-01';

/** An order at the authority (RFC 8555, section 7.1.3). */
export interface OrderUnderWay {
  directoryUrl: string;
  url: string;
  /** The id of its row in the history. */
  recordId: string;
  /** When it is given up, in milliseconds since 1970: no order of yesterday is continued. */
  expiresAt: number;
  /** Whether the authority has been told that all challenges are answered. */
  isTriggered?: boolean;
  /** The key of the certificate, in PEM, and the request that it signed, in base64url, once they are made. */
  privateKey?: string;
  request?: string;
}

/** What the authority says of the renewal of the certificate in force (RFC 9773). Times are in milliseconds since 1970. */
export interface RenewalInfo {
  /** The authority that issued the certificate. */
  directoryUrl: string;
  /** The certificate, as the authority is asked for it. */
  certificateId: string;
  /** The window, and the moment in it that was chosen; left out where the authority gives none. */
  start?: number;
  end?: number;
  chosen?: number;
  explanationUrl?: string;
  /** When it is asked for again. */
  checkAt: number;
  /** Another order has replaced the certificate already: the next one does not say that it does. */
  isReplaced?: boolean;
}

/** The revocation of a certificate that somebody has asked for. */
export interface Revocation {
  /** A code of RFC 5280, section 5.3.1. */
  reason: number;
  /** The certificate alone, in PEM: by the time that it is revoked, another one may be in force. */
  certificate: string;
  /** It is not tried before then, in milliseconds since 1970. Left out: at once. */
  nextAt?: number;
  /** Why the authority has refused it: it is not tried again. */
  refusal?: string;
}

/** A record that was looked up, and what was found. */
export interface CheckedRecord {
  name: string;
  type: string;
  expected: string;
  found: string[];
  state: 'OK' | 'MISSING' | 'WRONG' | 'UNKNOWN';
  message: string;
}

export interface CertificateJob {
  readonly id: string;
  /** '' for the gateway's own names. */
  readonly accountId: string;
  /** Null for the gateway's own names. */
  readonly domain: {
    id: string;
    domain: string;
    cnameTarget: string | null;
    acmeChallengeCnameTarget: string | null;
  } | null;
  /** Lower case; a wildcard begins with `*.`. */
  readonly names: readonly string[];
  readonly privateKeyType: 'ecdsa' | 'rsa';
  readonly state: JobState;
  /** Failures since the last certificate. */
  readonly attempts: number;
  /** How often records were looked up since it began to be wanted, and not right. */
  readonly lookups: number;
  /** How often in a row the authority was away when it was to be asked. */
  readonly awayCount: number;
  readonly startedAt: number;
  /** The authority, or a limit, allows no order before then. */
  readonly blockedUntil: number | null;
  readonly order: OrderUnderWay | null;
  readonly renewsAt: number | null;
  readonly renewalInfo: RenewalInfo | null;
  /** Null when none was asked for, or it is done. */
  readonly revocation: Revocation | null;
  /** The certificate in force, the leaf first; null before the first. */
  readonly certificate: { pem: string; notBefore: number; notAfter: number } | null;
  /** Nobody else writes the job as long as this number is the row's. */
  readonly leaseNumber: number;
}

/** What a step changes of a job; what is left out stays. Times are in milliseconds since 1970. */
export interface JobPatch {
  state?: JobState;
  attempts?: number;
  lookups?: number;
  awayCount?: number;
  startedAt?: number;
  /** Null: only when a person asks for it. */
  nextAt: number | null;
  blockedUntil?: number | null;
  errorCode?: number | null;
  message?: string;
  records?: readonly CheckedRecord[];
  order?: OrderUnderWay | null;
  renewsAt?: number | null;
  renewalInfo?: RenewalInfo | null;
  revocation?: Revocation | null;
}

/** What the gateway is to answer an authority with. */
export interface Challenge {
  kind: ChallengeKind;
  /** The host of the request or of the handshake, or the name of the TXT record. */
  name: string;
  /** The last part of the path of HTTP-01; '' for others. */
  token: string;
  /** The key authorization, or the text of the record. */
  value: string;
  /** Where the authority is told that it may look; '' for the gateway's own check. */
  url: string;
}

/** A certificate that was issued, with its key; both in PEM. */
export interface IssuedCertificate {
  chain: string;
  privateKey: string;
}

/** Whether a name stands for every name one label below another. */
export const isWildcard = (name: string): boolean => name.startsWith('*.');

/** Whether a revocation was asked for that the authority has neither done nor refused. */
export const awaitsRevocation = ({ revocation }: { revocation: Revocation | null }): boolean =>
  revocation !== null && revocation.refusal === undefined;
