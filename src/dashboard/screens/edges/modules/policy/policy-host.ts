// What a policy is written for, as its editor and its dry run have to know it.

import type { EndpointProto } from '../../../../generated/operations.ts';
import type { ModuleHost } from '../hosts.ts';
import type { examples } from './examples.ts';

export interface PolicyHost {
  /** What it sees: requests at `https`, whole connections at the others. */
  proto: Exclude<EndpointProto, 'HTTP'>;
  /** The id of the object whose stored secrets the mask in the text stands for; null while there is no object yet. */
  storedIn: string | null;
  /** A URL that a visitor could request there. */
  exampleUrl: string;
  /** The examples that fit. */
  examples: keyof typeof examples;
  /** Which endpoints its captured requests came to, as a filter of the API; undefined where there can be none. */
  endpoints?: string;
}

/** What the policy of an edge or a route is written for. */
export function policyHost({ kind, id, edgeId, exampleUrl }: ModuleHost): PolicyHost {
  const proto = kind === 'tlsEdge' ? 'TLS' : kind === 'tcpEdge' ? 'TCP' : 'HTTPS';
  const fitting = proto === 'HTTPS' ? 'http' : 'connection';
  return { proto, storedIn: id, exampleUrl, examples: fitting, endpoints: `obj.edge.id == "${edgeId ?? id}"` };
}
