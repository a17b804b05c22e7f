// The messages of calls. Each has a reader, and a writer when our own side sends it. Names on the wire are PascalCase
// and times are nanoseconds; times in this program are milliseconds.

import { Fields } from './fields.ts';

const NS_PER_MS = 1_000_000;
const PROTOCOL_VERSIONS = ['3', '2'];
/** The version of the protocol that both sides use. */
export const PROTOCOL_VERSION = '3';

/** The request of the first call of every session. */
export interface Auth {
  /** The id of the session to take over; empty for a new session. */
  clientId: string;
  /** The cookie from the response of the session to take over. */
  cookie: string;
  authtoken: string;
  /** The protocol versions that the agent supports. */
  versions: string[];
  agentVersion: string;
  userAgent: string;
  /** The kind of agent; our own agent sends `OWN_CLIENT_TYPE`. */
  clientType: string;
  os: string;
  arch: string;
  metadata: string;
  /** The reason why a command is not supported: '' when it is supported, null when the agent is too old to send a reason. */
  stopUnsupported: string | null;
  restartUnsupported: string | null;
  updateUnsupported: string | null;
  /** The largest stream window that the agent supports, in bytes; 0 when it sends none. */
  streamWindow: number;
}

/** The client type of our own agent. */
export const OWN_CLIENT_TYPE = 'tunnel-gateway-agent';

export function readAuth(message: object): Auth {
  const fields = new Fields(message);
  const extra = fields.fields('Extra');
  return {
    clientId: fields.text('ClientId'),
    versions: fields.texts('Version'),
    cookie: extra.text('Cookie'),
    authtoken: extra.text('AuthToken'),
    agentVersion: extra.text('Version'),
    userAgent: extra.text('UserAgent'),
    clientType: extra.text('ClientType'),
    os: extra.text('OS'),
    arch: extra.text('Arch'),
    metadata: extra.text('Metadata'),
    stopUnsupported: extra.textOrNull('StopUnsupportedError'),
    restartUnsupported: extra.textOrNull('RestartUnsupportedError'),
    updateUnsupported: extra.textOrNull('UpdateUnsupportedError'),
    streamWindow: extra.number('StreamWindow'),
  };
}

/** @param heartbeat the heartbeat timing that the agent requests; milliseconds. */
export function writeAuth(
  auth: Omit<Auth, 'versions' | 'clientType'>,
  heartbeat: { interval: number; tolerance: number },
): object {
  return {
    Version: PROTOCOL_VERSIONS,
    ClientId: auth.clientId,
    Extra: {
      OS: auth.os,
      Arch: auth.arch,
      AuthToken: auth.authtoken,
      Version: auth.agentVersion,
      UserAgent: auth.userAgent,
      Metadata: auth.metadata,
      Cookie: auth.cookie,
      HeartbeatInterval: heartbeat.interval * NS_PER_MS,
      HeartbeatTolerance: heartbeat.tolerance * NS_PER_MS,
      StopUnsupportedError: auth.stopUnsupported,
      RestartUnsupportedError: auth.restartUnsupported,
      UpdateUnsupportedError: auth.updateUnsupported,
      ClientType: OWN_CLIENT_TYPE,
      StreamWindow: auth.streamWindow,
    },
  };
}

/** The response to `Auth`. */
export interface AuthResponse {
  /** The reason of the refusal, with the error code on a line of its own; empty when the session is accepted. */
  error: string;
  /** The seconds after which the agent may retry; 0 when the gateway sends none. */
  retryAfter: number;
  clientId: string;
  cookie: string;
  region: string;
  /** The negotiated stream window, in bytes; 0 when the gateway sends none. */
  streamWindow: number;
}

export function readAuthResponse(message: object): AuthResponse {
  const fields = new Fields(message);
  const extra = fields.fields('Extra');
  return {
    error: fields.text('Error'),
    retryAfter: fields.number('RetryAfter'),
    clientId: fields.text('ClientId'),
    cookie: extra.text('Cookie'),
    region: extra.text('Region'),
    streamWindow: extra.number('StreamWindow'),
  };
}

/** @param version the version of the gateway. */
export function writeAuthResponse(response: Omit<AuthResponse, 'error' | 'retryAfter'>, version: string): object {
  return {
    Version: PROTOCOL_VERSION,
    ClientId: response.clientId,
    Error: '',
    Extra: {
      Version: version,
      Region: response.region,
      Cookie: response.cookie,
      AccountName: '',
      SessionDuration: 0,
      PlanName: '',
      Banner: '',
      StreamWindow: response.streamWindow,
    },
  };
}

/** The request to bind a tunnel to a public address. */
export interface Bind {
  /** The id of the tunnel to resume; empty for a new tunnel. */
  id: string;
  /** The bind token from the response of the tunnel to resume. */
  token: string;
  proto: string;
  forwardsTo: string;
  /** '', `http1` or `http2`. */
  forwardsProto: string;
  metadata: string;
  pooling: boolean;
  bindings: string[];
  /** The options of the protocol, as received. */
  options: object;
}

export function readBind(message: object): Bind {
  const fields = new Fields(message);
  const extra = fields.fields('Extra');
  return {
    id: fields.text('Id'),
    token: extra.text('Token'),
    proto: fields.text('Proto'),
    forwardsTo: fields.text('ForwardsTo'),
    forwardsProto: fields.text('ForwardsProto'),
    metadata: extra.text('Metadata'),
    pooling: extra.flag('PoolingEnabled'),
    bindings: extra.texts('Bindings'),
    options: fields.object('Opts'),
  };
}

export function writeBind(bind: Omit<Bind, 'bindings' | 'pooling' | 'forwardsProto'>): object {
  return {
    Id: bind.id,
    Proto: bind.proto,
    ForwardsTo: bind.forwardsTo,
    ForwardsProto: '',
    Opts: bind.options,
    Extra: { Token: bind.token, Metadata: bind.metadata, Bindings: [], PoolingEnabled: false },
  };
}

/** The response to `Bind`. */
export interface BindResponse {
  /** The reason of the refusal, with the error code on a line of its own; empty when the bind is accepted. */
  error: string;
  /** The seconds after which the agent may retry; 0 when the gateway sends none. */
  retryAfter: number;
  id: string;
  url: string;
  token: string;
}

/** Reads the response to either kind of bind. That to a label bind has neither URL nor token. */
export function readBindResponse(message: object): BindResponse {
  const fields = new Fields(message);
  return {
    error: fields.text('Error'),
    retryAfter: fields.number('RetryAfter'),
    id: fields.text('Id'),
    url: fields.text('URL'),
    token: fields.fields('Extra').text('Token'),
  };
}

/** @param options the options of the request, with the values that the gateway chose. */
export function writeBindResponse(
  response: Omit<BindResponse, 'error' | 'retryAfter'>,
  proto: string,
  options: object,
): object {
  const { id, url, token } = response;
  return { Id: id, URL: url, Proto: proto, Opts: options, Error: '', Extra: { Token: token, TunnelID: id } };
}

/** The request to bind a tunnel with labels, by which edges select it. */
export interface LabelBind {
  labels: Record<string, string>;
  forwardsTo: string;
  /** '', `http1` or `http2`. */
  forwardsProto: string;
  metadata: string;
}

export function readLabelBind(message: object): LabelBind {
  const fields = new Fields(message);
  return {
    labels: fields.labels('Labels'),
    forwardsTo: fields.text('ForwardsTo'),
    forwardsProto: fields.text('ForwardsProto'),
    metadata: fields.text('Metadata'),
  };
}

export function writeLabelBind(bind: LabelBind): object {
  return {
    Labels: bind.labels,
    ForwardsTo: bind.forwardsTo,
    ForwardsProto: bind.forwardsProto,
    Metadata: bind.metadata,
  };
}

/** The request of the gateway that an agent stops one tunnel. */
export interface StopTunnel {
  id: string;
  message: string;
  errorCode: string;
}

export function readStopTunnel(message: object): StopTunnel {
  const fields = new Fields(message);
  return { id: fields.text('Id'), message: fields.text('Message'), errorCode: fields.text('ErrorCode') };
}

export function writeStopTunnel({ id, message, errorCode }: StopTunnel): object {
  return { Id: id, Message: message, ErrorCode: errorCode };
}
