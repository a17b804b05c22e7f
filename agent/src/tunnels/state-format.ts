// What the state file holds, and how that is written down: the agent's own format, and the one of the sample agent
// that it follows.

import { randomUUID } from 'node:crypto';
import { describeJsonError } from '@gateway/protocol';
import type { Protocol, Resumption, SessionIdentity } from '../gateway-client.ts';
import type { PolicyDocument } from './policy.ts';

export const PROTOCOLS: readonly Protocol[] = ['http', 'https', 'tcp', 'tls'];
export type PolicySource = 'default' | 'request';

/** A tunnel as it is kept over restarts. */
export interface SavedTunnel {
  /** Ours, and the same for as long as the tunnel exists. */
  id: string;
  url: string;
  /** The URL before, where the gateway could not give that again. */
  previousUrl: string | null;
  protocol: Protocol;
  forwardsTo: string;
  /** As it was asked for. */
  domain: string | null;
  /** The one that is applied. */
  policy: PolicyDocument;
  policySource: PolicySource;
  createdAt: string;
  resume: Resumption | null;
}

export interface AgentState {
  identity: SessionIdentity | null;
  /** The last default policy that could be used. */
  defaultPolicy: PolicyDocument | null;
  /** The tunnel of the agent's own API. */
  api: Resumption | null;
  /** In the order in which they were made. */
  tunnels: SavedTunnel[];
}

export const EMPTY_STATE: AgentState = { identity: null, defaultPolicy: null, api: null, tunnels: [] };

/** The text is no state file. */
export class StateFormatError extends Error {}
/** The file was written by a newer agent: to go on would lose what this one does not know. */
export class NewerStateError extends Error {}

const VERSION = 1;

export function printState(state: AgentState): string {
  return `${JSON.stringify({ version: VERSION, ...state }, null, 1)}\n`;
}

/** @throws {StateFormatError} @throws {NewerStateError} */
export function parseState(text: string): AgentState {
  const value = object(parseJson(text), 'the state');
  if (!('version' in value)) return parseSample(value);
  if (typeof value.version !== 'number') throw new StateFormatError('version must be a number');
  if (value.version > VERSION)
    throw new NewerStateError(`it has version ${value.version}, and this agent knows ${VERSION}: install a newer one`);
  const tunnels = value.tunnels;
  if (!Array.isArray(tunnels)) throw new StateFormatError('tunnels must be a list');
  return {
    identity: nullable(value.identity, (it) => ({
      clientId: readText(it, 'clientId'),
      cookie: readText(it, 'cookie'),
    })),
    defaultPolicy: nullable(value.defaultPolicy, (policy) => policy),
    api: nullable(value.api, readResumption),
    tunnels: tunnels.map((item, i) => readTunnel(object(item, `tunnels[${i}]`))),
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
    policy: object(value.policy, 'policy'),
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

/** The sample's: an object by URL, its policies JSON texts, after a restart of it texts of texts. */
function parseSample(value: PolicyDocument): AgentState {
  const tunnels = Object.entries(value).map(([url, item]): SavedTunnel => {
    if (!URL.canParse(url)) throw new StateFormatError(`"${url}" must be a URL`);
    const fields = object(item, url);
    return {
      id: randomUUID(),
      url,
      previousUrl: null,
      protocol: readProtocol(fields.protocol ?? 'http'),
      forwardsTo: readText(fields, 'forwards_to'),
      domain: textOrNull(fields, 'domain'),
      policy: object(decoded(fields.policy), 'policy'),
      policySource: 'request',
      createdAt: new Date().toISOString(),
      resume: null,
    };
  });
  return { ...EMPTY_STATE, tunnels };
}

/** Each restart of the sample encoded once more. */
function decoded(value: unknown): unknown {
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

function object(value: unknown, name: string): PolicyDocument {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as PolicyDocument;
  throw new StateFormatError(`${name} must be an object`);
}

const nullable = <T>(value: unknown, read: (value: PolicyDocument) => T): T | null =>
  value == null ? null : read(object(value, 'a member'));

function readText(value: PolicyDocument, name: string): string {
  const text = value[name];
  if (typeof text === 'string') return text;
  throw new StateFormatError(`${name} must be a text`);
}

const textOrNull = (value: PolicyDocument, name: string) => (value[name] == null ? null : readText(value, name));
