// The messages that begin a session, and the question about the gateway. Names on the wire are PascalCase and times are
// nanoseconds; times in this program are milliseconds.

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
  /** The name of the agent's host; '' when it sends none. */
  hostName: string;
  /** What the agent is recognized by over restarts, also with another authtoken. Only our own agent has one; '' is none. */
  deviceId: string;
  /** The name and the labels that the agent gives itself. Only our own agent sends them. */
  name: string;
  labels: Record<string, string>;
  metadata: string;
  /** The reason why a command is not supported: '' when it is supported, null when the agent is too old to send a reason. */
  stopUnsupported: string | null;
  restartUnsupported: string | null;
  updateUnsupported: string | null;
  /** The same for a move to another process of the gateway. Only our own agent has it. */
  moveUnsupported: string | null;
  /** The largest stream window that the agent supports, in bytes; 0 when it sends none. */
  streamWindow: number;
  /** The number of the session among those that the agent has at once, from 0. */
  legNumber: number;
  /** Whether the earlier session with this number stays until the gateway ends it, as the agent moves its tunnels to this one. */
  moves: boolean;
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
    hostName: extra.text('Hostname'),
    deviceId: extra.text('DeviceId'),
    name: extra.text('Name'),
    labels: extra.labels('Labels'),
    metadata: extra.text('Metadata'),
    stopUnsupported: extra.textOrNull('StopUnsupportedError'),
    restartUnsupported: extra.textOrNull('RestartUnsupportedError'),
    updateUnsupported: extra.textOrNull('UpdateUnsupportedError'),
    moveUnsupported: extra.textOrNull('MoveUnsupportedError'),
    streamWindow: extra.number('StreamWindow'),
    legNumber: extra.number('LegNumber'),
    moves: extra.flag('Moves'),
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
      Hostname: auth.hostName,
      DeviceId: auth.deviceId,
      Name: auth.name,
      Labels: auth.labels,
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
      MoveUnsupportedError: auth.moveUnsupported,
      ClientType: OWN_CLIENT_TYPE,
      StreamWindow: auth.streamWindow,
      LegNumber: auth.legNumber,
      Moves: auth.moves,
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
  /** The id of the gateway process; empty when the gateway sends none. An agent may have legs only where there is one. */
  node: string;
  /** The addresses of further gateway processes for agents, the one that answers first; empty when the gateway sends none. */
  connectAddresses: string[];
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
    node: extra.text('Node'),
    connectAddresses: extra.list('ConnectAddresses').map((address) => address.text('ServerAddr')),
  };
}

/** What existing SDKs show their users, or find their session in the API by. Our own agent has no use for it. */
export interface SessionDescription {
  /** The version of the gateway. */
  version: string;
  /** The id of the session in the API: `ts_…`. */
  sessionId: string;
  accountName: string;
  planName: string;
  /** A line for people; '' for none. */
  banner: string;
}

export function writeAuthResponse(
  response: Omit<AuthResponse, 'error' | 'retryAfter'>,
  { version, sessionId, accountName, planName, banner }: SessionDescription,
): object {
  return {
    Version: PROTOCOL_VERSION,
    ClientId: response.clientId,
    Error: '',
    Extra: {
      Version: version,
      Region: response.region,
      Cookie: response.cookie,
      AccountName: accountName,
      SessionDuration: 0,
      PlanName: planName,
      Banner: banner,
      AgentSessionID: sessionId,
      StreamWindow: response.streamWindow,
      Node: response.node,
      ...(response.connectAddresses.length === 0
        ? {}
        : {
            ConnectAddresses: response.connectAddresses.map((ServerAddr) => ({ Region: response.region, ServerAddr })),
          }),
    },
  };
}

/** The response to a question about the gateway, which needs no authentication. */
export interface ServerInfo {
  region: string;
  /** As in `AuthResponse`. */
  node: string;
  /** Whether it knows `Auth.moves`. One that does not would end the earlier session at once. */
  takesMoves: boolean;
}

export function readServerInfo(message: object): ServerInfo {
  const fields = new Fields(message);
  return { region: fields.text('Region'), node: fields.text('Node'), takesMoves: fields.flag('TakesMoves') };
}

export function writeServerInfo({ region, node, takesMoves }: ServerInfo): object {
  return { Region: region, Node: node, TakesMoves: takesMoves };
}
