// The format of the state file: the agent's own, and for reading that of the sample agent, which came before it.

import { randomUUID } from 'node:crypto';
import { describeJsonError } from '@gateway/protocol';
import type { Protocol, Resumption, SessionIdentity } from '../gateway-client.ts';
import type { PolicyDocument } from './policy.ts';

export const PROTOCOLS: readonly Protocol[] = ['http', 'https', 'tcp', 'tls'];
export type PolicySource = 'default' | 'request';

/** A tunnel in the state file. */
export interface SavedTunnel {
  /** The agent's id of the tunnel, which never changes. */
  id: string;
  url: string;
  /** The URL before the current one; null when the URL has never changed. */
  previousUrl: string | null;
  protocol: Protocol;
  forwardsTo: string;
  /** The requested domain; null for any. */
  domain: string | null;
  /** The applied policy. */
  policy: PolicyDocument;
  policySource: PolicySource;
  createdAt: string;
  resume: Resumption | null;
}

/** The content of the state file. */
export interface AgentState {
  identity: SessionIdentity | null;
  /** The last valid default policy. */
  defaultPolicy: PolicyDocument | null;
  /** The resumption of the tunnel that publishes the agent's own API. */
  api: Resumption | null;
  /** The tunnels in the order of their creation. */
  tunnels: SavedTunnel[];
  /** The resumptions of the endpoints of the configuration file, by their name. */
  endpoints: Record<string, Resumption>;
}

export const EMPTY_STATE: AgentState = { identity: null, defaultPolicy: null, api: null, tunnels: [], endpoints: {} };

/** The text is not a valid state. */
export class StateFormatError extends Error {}
/** A newer agent wrote the file. This one leaves it alone, as a write would lose the members that it does not know. */
export class NewerStateError extends Error {}

/** The version of the format that this agent writes. */
export const VERSION = 1;

/** Serializes a state. */
export function printState(state: AgentState): string {
  return `${JSON.stringify({ version: VERSION, ...state }, null, 1)}\n`;
}

/** Parses a state. @throws {StateFormatError} @throws {NewerStateError} */
export function parseState(text: string): AgentState {
  const value = requireObject(parseJson(text), 'the state');
  if (!('version' in value)) return parseSample(value);
  if (typeof value.version !== 'number') throw new StateFormatError('version must be a number');
  if (value.version > VERSION)
    throw new NewerStateError(`it has version ${value.version}, and this agent knows ${VERSION}`);
  const tunnels = value.tunnels;
  if (!Array.isArray(tunnels)) throw new StateFormatError('tunnels must be a list');
  return {
    identity: nullable(value.identity, (identity) => ({
      clientId: readText(identity, 'clientId'),
      cookie: readText(identity, 'cookie'),
    })),
    defaultPolicy: nullable(value.defaultPolicy, (policy) => policy),
    api: nullable(value.api, readResumption),
    tunnels: tunnels.map((item, i) => readTunnel(requireObject(item, `tunnels[${i}]`))),
    endpoints: readEndpoints(value.endpoints),
  };
}

function readTunnel(value: PolicyDocument): SavedTunnel {
  return {
    id: readText(value, 'id'),
    url: readText(value, 'url'),
    previousUrl: textOrNull(value, 'previousUrl'),
    protocol: readProtocol(value.protocol),
    forwardsTo: readText(value, 'forwardsTo'),
    domain: textOrNull(value, 'domain'),
    policy: requireObject(value.policy, 'policy'),
    policySource: value.policySource === 'default' ? 'default' : 'request',
    createdAt: readText(value, 'createdAt'),
    resume: nullable(value.resume, readResumption),
  };
}

const readResumption = (value: PolicyDocument): Resumption => ({
  tunnelId: readText(value, 'tunnelId'),
  bindToken: readText(value, 'bindToken'),
  url: readText(value, 'url'),
});

/** Files of agents that knew no endpoints have none. */
function readEndpoints(value: unknown): Record<string, Resumption> {
  const entries = Object.entries(nullable(value, (endpoints) => endpoints) ?? {});
  return Object.fromEntries(entries.map(([name, item]) => [name, readResumption(requireObject(item, 'endpoints'))]));
}

/**
 * Parses the sample's format: tunnels by URL, with policies as JSON texts. Each restart of the sample encoded these once
 * more.
 */
function parseSample(value: PolicyDocument): AgentState {
  const tunnels = Object.entries(value).map(([url, item]): SavedTunnel => {
    if (!URL.canParse(url)) throw new StateFormatError(`"${url}" must be a URL`);
    const fields = requireObject(item, url);
    return {
      id: randomUUID(),
      url,
      previousUrl: null,
      protocol: readProtocol(fields.protocol ?? 'http'),
      forwardsTo: readText(fields, 'forwards_to'),
      domain: textOrNull(fields, 'domain'),
      policy: requireObject(decodeRepeatedly(fields.policy), 'policy'),
      policySource: 'request',
      createdAt: new Date().toISOString(),
      resume: null,
    };
  });
  return { ...EMPTY_STATE, tunnels };
}

/** Decodes a JSON text that may have been encoded several times. */
function decodeRepeatedly(value: unknown): unknown {
  let inner: unknown = value ?? {};
  while (typeof inner === 'string') inner = parseJson(inner);
  return inner;
}

function readProtocol(value: unknown): Protocol {
  const protocol = PROTOCOLS.find((known) => known === value);
  if (protocol) return protocol;
  throw new StateFormatError(`protocol must be one of ${PROTOCOLS.join(', ')}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StateFormatError(describeJsonError(error));
  }
}

function requireObject(value: unknown, name: string): PolicyDocument {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as PolicyDocument;
  throw new StateFormatError(`${name} must be an object`);
}

const nullable = <T>(value: unknown, read: (value: PolicyDocument) => T): T | null =>
  value == null ? null : read(requireObject(value, 'a member'));

function readText(value: PolicyDocument, name: string): string {
  const text = value[name];
  if (typeof text === 'string') return text;
  throw new StateFormatError(`${name} must be a text`);
}

const textOrNull = (value: PolicyDocument, name: string) => (value[name] == null ? null : readText(value, name));
