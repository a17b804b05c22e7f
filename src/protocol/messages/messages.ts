// The messages of calls. Each has a reader, for what comes, and where our own side sends it a writer.
// Names on the wire are PascalCase; times on the wire are nanoseconds, here milliseconds.

import { Fields } from './fields.ts';

const NS_PER_MS = 1_000_000;
const PROTOCOL_VERSIONS = ['3', '2'];
/** Which of the peer's versions is spoken. */
export const PROTOCOL_VERSION = '3';

/** The first call of every session. */
export interface Auth {
  /** Empty for a new session; the one before, to take that over. */
  clientId: string;
  /** What the gateway answered to the session before. */
  cookie: string;
  authtoken: string;
  /** Versions of the protocol that the agent speaks. */
  versions: string[];
  agentVersion: string;
  userAgent: string;
  /** The kind of agent; ours says `OUR_CLIENT`. */
  clientType: string;
  os: string;
  arch: string;
  metadata: string;
  /** Why a command is not supported: null where the agent is too old to say, '' where it is supported. */
  stopUnsupported: string | null;
  restartUnsupported: string | null;
  updateUnsupported: string | null;
  /** The largest window for a stream that the agent can deal with, in bytes; 0 where it does not say. */
  streamWindow: number;
}

/** What our own agent calls its kind. */
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

/** @param heartbeat what the agent asks of the gateway; milliseconds. */
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

export interface AuthResponse {
  /** Why the session is refused, with its code on a line of its own; empty when it is accepted. */
  error: string;
  /** Seconds after which to ask again; 0 where the gateway does not say. */
  retryAfter: number;
  clientId: string;
  cookie: string;
  region: string;
  /** The window that was agreed on, in bytes; 0 where the gateway does not say. */
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

/** @param version of the gateway's program. */
export function writeAuthResponse(answer: Omit<AuthResponse, 'error' | 'retryAfter'>, version: string): object {
  return {
    Version: PROTOCOL_VERSION,
    ClientId: answer.clientId,
    Error: '',
    Extra: {
      Version: version,
      Region: answer.region,
      Cookie: answer.cookie,
      AccountName: '',
      SessionDuration: 0,
      PlanName: '',
      Banner: '',
      StreamWindow: answer.streamWindow,
    },
  };
}

/** A call to serve a public address. */
export interface Bind {
  /** Empty for a new tunnel; the one before, to have that back. */
  id: string;
  /** What the gateway answered for the tunnel before. */
  token: string;
  proto: string;
  forwardsTo: string;
  /** '', `http1` or `http2`. */
  forwardsProto: string;
  metadata: string;
  pooling: boolean;
  bindings: string[];
  /** The options of the protocol, as they came. */
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

export interface BindResponse {
  /** Why it is refused, with its code on a line of its own; empty when it is accepted. */
  error: string;
  /** Seconds after which to ask again; 0 where the gateway does not say. */
  retryAfter: number;
  id: string;
  url: string;
  token: string;
}

/** Reads the answer to either kind of bind: one with labels has no URL and no token. */
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

/** @param options those of the request, with what was really chosen. */
export function writeBindResponse(
  answer: Omit<BindResponse, 'error' | 'retryAfter'>,
  proto: string,
  options: object,
): object {
  const { id, url, token } = answer;
  return { Id: id, URL: url, Proto: proto, Opts: options, Error: '', Extra: { Token: token, TunnelID: id } };
}

/** A call to serve whichever edge chooses these labels. */
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

/** What the gateway tells the agent when it stops one tunnel. */
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
