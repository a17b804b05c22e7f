// The interface of the client of the gateway, which `client/` implements.

/** The protocol of a tunnel's public address. */
export type Protocol = 'http' | 'https' | 'tcp' | 'tls';

/** The labels of a tunnel, by which edges select it: values by key. */
export type Labels = Readonly<Record<string, string>>;

interface CommonSpec {
  /** `host:port`, a URL whose scheme (`https://`) says that the upstream speaks TLS, or a directory, `file:///srv/www`. */
  forwardsTo: string;
  /** Whether directories without an index.html are shown as a list, where the upstream is a directory. */
  isListed?: boolean;
  /** A text that the gateway's API shows. */
  metadata: string;
}

/** A tunnel with a public address, which the client keeps bound for as long as it is open. */
export interface TunnelSpec extends CommonSpec {
  /** What it is called, which the gateway's API shows; left out: nothing. */
  name?: string | undefined;
  protocol: Protocol;
  /** A domain, or for tcp `host:port`. With null the gateway chooses, and the client requests its choice again later. */
  domain: string | null;
  /** The traffic policy as a text in JSON or YAML; null for none. */
  policy: string | null;
  /** Whether other tunnels with the same address share its visitors, if they ask for it, too; they do not when left out. */
  pooling?: boolean | undefined;
  /** What the gateway speaks to an HTTP upstream: HTTP/1.1 when left out. */
  upstreamProtocol?: 'http1' | 'http2' | undefined;
  /** How long the upstream may take until its response begins, in seconds: as the gateway has it when left out. */
  upstreamTimeout?: number | undefined;
  /** By which name the upstream is asked, as an origin: `http://localhost:3000`. By that of the endpoint when left out. */
  hostHeader?: string | undefined;
  /** The version of the PROXY protocol that tells the upstream who the visitor is; none when left out. */
  proxyProtocol?: 1 | 2 | undefined;
  /** The resumption from an earlier bind; null for a new tunnel. */
  resume: Resumption | null;
}

/** A tunnel without an address, for the edges whose backend selects its labels. The edge has the domain and the policy. */
export interface LabelTunnelSpec extends CommonSpec {
  /** At least one label. */
  labels: Labels;
}

/** The proof that a tunnel belongs to this agent, with which it gets the same address again. It is kept over restarts. */
export interface Resumption {
  tunnelId: string;
  bindToken: string;
  /** The URL of the tunnel. */
  url: string;
}

/** The proof that a session belongs to this agent, with which a new session replaces it. It is kept over restarts. */
export interface SessionIdentity {
  clientId: string;
  cookie: string;
}

/**
 * `pending`: there is no response yet. `active`: the gateway serves the tunnel. `refused`: the gateway refused it; the
 * client retries with long delays. `closed`: the client closed it.
 */
export type TunnelState = 'pending' | 'active' | 'refused' | 'closed';

/** A refusal in the gateway's words. */
export interface GatewayError {
  /** The code, as in `ERR_GATEWAY_334`; empty when the gateway sent none. */
  code: string;
  message: string;
}

/** An open tunnel of the client. */
export interface TunnelHandle {
  readonly state: TunnelState;
  /** The public URL; null before the tunnel was active once, and always for a tunnel with labels. */
  readonly url: string | null;
  /** The resumption; null before the first bind, and always for a tunnel with labels. */
  readonly resumption: Resumption | null;
  /** The number of sessions that serve the tunnel. */
  readonly legs: number;
  /** The refusal of a refused tunnel; null otherwise. */
  readonly error: GatewayError | null;
  readonly counters: {
    connections: number;
    openConnections: number;
    bytesIn: number;
    bytesOut: number;
    dialFailures: number;
  };
  /**
   * Settles with the first response of the gateway: it resolves to the URL, which is empty for a tunnel with labels, or
   * rejects with the refusal. It stays pending while there is no session.
   */
  readonly answered: Promise<string>;
  /** Closes and unbinds the tunnel. Resolves when its open streams have ended. */
  close(): Promise<void>;
}

/** The state of a session. `refused`: the gateway refused the authtoken; the client retries with long delays. */
export type ClientState = 'connecting' | 'online' | 'waiting' | 'refused' | 'closed';

/** A client's connection to the gateway, as people see it. */
interface ConnectionStatus {
  state: ClientState;
  /** When the state began, in milliseconds since 1970. */
  since: number;
  /** The reason why there is no session; null while online. */
  error: GatewayError | null;
  /** When the next attempt begins; null unless waiting or refused. */
  retryAt: number | null;
  /** The round trip of the last heartbeat in milliseconds; null before the first. */
  latencyMs: number | null;
  /** The number of sessions since the start. */
  sessions: number;
}

/** One of the sessions that a client has at once, each with another gateway process (node). */
export interface LegStatus extends ConnectionStatus {
  /** Its number, from 0. */
  number: number;
  /** The address of the gateway that it is connected to, or tried last, `host:port`; null before the first attempt. */
  gateway: string | null;
  /** The id of the node that it is connected to; null when there is no session, or the gateway did not say. */
  node: string | null;
}

/** The state of a client: online while at least one of its legs is. */
export interface ClientStatus extends ConnectionStatus {
  legs: LegStatus[];
}

/** What an agent says of itself, by which people tell it from others in the gateway's API. */
export interface AgentSelf {
  /** What the gateway recognizes it by over restarts; '' when it has nothing to keep that in. */
  deviceId: string;
  /** Its name; '' for the host's. */
  name: string;
  labels: Labels;
}

/** A proxy between the agent and the gateway. */
export interface ForwardProxy {
  /** `http` and `https`: CONNECT (RFC 9110 section 9.3.6), without and with TLS to the proxy. `socks5`: RFC 1928. */
  scheme: 'http' | 'https' | 'socks5';
  /** A name, or an address without brackets. */
  host: string;
  port: number;
  /** The user name and the password (RFC 7617, RFC 1929); null when the proxy asks for none. */
  login: { user: string; password: string } | null;
}

/** The handlers of remote commands. Each returns null when it accepts the command, otherwise the reason of the refusal. */
export interface RemoteCommands {
  /** The commands that are always refused, with the reason, which the gateway is told beforehand; none when left out. */
  readonly unsupported?: Readonly<Partial<Record<'stop' | 'restart' | 'update', string>>>;
  stop(): string | null;
  restart(): string | null;
  update(version: string, permitMajor: boolean): string | null;
}

/** The client of the gateway. */
export interface GatewayClient {
  readonly status: ClientStatus;
  /** Opens a tunnel, which is bound as soon as there is a session. @throws {Error} when the client is closed. */
  open(tunnel: TunnelSpec | LabelTunnelSpec): TunnelHandle;
  /** Closes all tunnels and sessions. Resolves when the connections are closed. */
  close(): Promise<void>;
}

/** The settings and callbacks of a client. */
export interface ClientOptions {
  /**
   * The authtoken, or what gets it before a session is opened; that may fail with a `GatewayRefusal`. It is told the authtoken that the
   * gateway has refused as not valid, if it was the last one.
   */
  authtoken: string | ((refused: string | null) => Promise<string>);
  /** The agent listeners of the gateway. All belong to one gateway, which may have several processes (nodes). */
  gateways: readonly { host: string; port: number }[];
  /** The number of sessions to have at once, each with another node; null for two where there are two addresses, otherwise one. */
  legs: number | null;
  /** The trusted CA certificates, in PEM; undefined for those that Node trusts. */
  ca: string | undefined;
  /** Finds the proxy that leads to a gateway; null for none. Without it, there are no proxies. */
  proxyFor?: (target: { host: string; port: number }) => ForwardProxy | null;
  /** The identity of the session to take over; null for none. */
  identity: SessionIdentity | null;
  /** A text about the agent that the gateway's API shows. */
  metadata: string;
  self: AgentSelf;
  /**
   * Resolves an upstream to the addresses that the client may connect to; none when it is not allowed. The client does not
   * resolve the name again, as the result may differ by then (DNS rebinding).
   */
  addresses(host: string, port: number): Promise<string[]>;
  commands: RemoteCommands;
  /** Called when the state of the session or of a tunnel, or a resumption, has changed. */
  onChange(): void;
  /** Called with a new identity, which is to be kept over restarts. */
  onIdentity(identity: SessionIdentity): void;
  log(level: 'info' | 'warn' | 'error', text: string, details?: Record<string, unknown>): void;
}
