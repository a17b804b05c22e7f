// What the agent's own rooms know of the connection to the gateway. `client/` implements it.

import type { Labels } from './settings/labels.ts';

export type Protocol = 'http' | 'https' | 'tcp' | 'tls';

interface CommonSpec {
  /** `host:port`, or a URL whose scheme (`https://`) says that the upstream speaks TLS. */
  forwardsTo: string;
  metadata: string;
}

/** A tunnel with a public address that the agent wants, for as long as it runs. */
export interface TunnelSpec extends CommonSpec {
  protocol: Protocol;
  /** A name, or for tcp `host:port`; null lets the gateway choose once, and ask for the same again ever after. */
  domain: string | null;
  /** The traffic policy, as a text in JSON or YAML; null for none. */
  policy: string | null;
  /** What the gateway gave it last time, so that it gets the same again. */
  resume: Resumption | null;
}

/** A tunnel without an address, for the edges whose backend chooses it: these have the name, the policy and the rest. */
export interface LabelTunnelSpec extends CommonSpec {
  /** At least one. */
  labels: Labels;
}

/** What proves to the gateway that a tunnel was ours: to be kept over restarts. */
export interface Resumption {
  tunnelId: string;
  bindToken: string;
  /** The URL that it had. */
  url: string;
}

/** What proves to the gateway that a session is ours: to be kept over restarts, so that we take over our own ghost. */
export interface SessionIdentity {
  clientId: string;
  cookie: string;
}

/**
 * `pending`: not answered yet, as there is no session. `active`: the gateway serves it. `refused`: the gateway said no,
 * which is asked again, slowly. `closed`: by us.
 */
export type TunnelState = 'pending' | 'active' | 'refused' | 'closed';

/** A refusal, in the gateway's words. */
export interface GatewayError {
  /** `ERR_GATEWAY_334`; empty when the gateway gave none. */
  code: string;
  message: string;
}

export interface TunnelHandle {
  readonly state: TunnelState;
  /** The public URL; null until it was active once, and always where it has labels in its place. */
  readonly url: string | null;
  /** What is to be kept of it; null where there is nothing yet, and always where it has labels. */
  readonly resumption: Resumption | null;
  /** Why it is refused; null otherwise. */
  readonly error: GatewayError | null;
  readonly counters: {
    connections: number;
    openConnections: number;
    bytesIn: number;
    bytesOut: number;
    dialFailures: number;
  };
  /**
   * Settles at the first answer of the gateway: the URL, empty where there is none, or rejects with its refusal. Waits
   * while there is no session.
   */
  readonly answered: Promise<string>;
  /** Unbinds it, at once where there is a session; resolves when no traffic can reach it any more. */
  close(): Promise<void>;
}

/** `refused`: the gateway does not accept the authtoken; it is tried again, slowly. */
export type ClientState = 'connecting' | 'online' | 'waiting' | 'refused' | 'closed';

export interface ClientStatus {
  state: ClientState;
  /** When it came into this state, in milliseconds since 1970. */
  since: number;
  /** Why there is no session; null while online. */
  error: GatewayError | null;
  /** When the next attempt begins; null unless waiting or refused. */
  retryAt: number | null;
  /** The round trip of the last heartbeat in milliseconds; null before the first. */
  latencyMs: number | null;
  /** Sessions begun since the start. */
  sessions: number;
}

/** What the gateway may ask of the agent from afar. The answer is null, or the reason why not. */
export interface RemoteCommands {
  stop(): string | null;
  restart(): string | null;
  update(version: string, permitMajor: boolean): string | null;
}

export interface GatewayClient {
  readonly status: ClientStatus;
  open(tunnel: TunnelSpec | LabelTunnelSpec): TunnelHandle;
  /** Says good-bye to the gateway and ends everything; resolves when the connection is closed. */
  close(): Promise<void>;
}

export interface ClientOptions {
  authtoken: string;
  /** Host and port of the gateway's agent listener. */
  gateway: { host: string; port: number };
  /** Certificates of the authorities to trust, in PEM; undefined: those Node trusts. */
  ca: string | undefined;
  identity: SessionIdentity | null;
  /** Shown by the gateway's API. */
  metadata: string;
  /**
   * The addresses of a place that visitors may be forwarded to; none where they may not. Connections go to one of them, and
   * the name is not resolved again: its next answer may be another.
   */
  addresses(host: string, port: number): Promise<string[]>;
  commands: RemoteCommands;
  /** Told when the session, a tunnel, or what is to be kept of them has changed. */
  onChange(): void;
  /** Told the identity that is to be kept. */
  onIdentity(identity: SessionIdentity): void;
  log(level: 'info' | 'warn' | 'error', text: string, details?: Record<string, unknown>): void;
}
