// Backends that are no tunnel groups: what they are called, and where they are listed.

import { listPaths } from '../navigation.ts';

/** The kinds, as in the change feed. */
export const CHOOSING_KINDS = ['weightedBackend', 'failoverBackend', 'httpResponseBackend', 'staticBackend'] as const;

/** A kind of them. */
export type ChoosingKind = (typeof CHOOSING_KINDS)[number];

interface BackendWords {
  /** The name within a sentence. */
  noun: string;
  plural: string;
  /** The path of the list. */
  listPath: string;
  /** What one is for. */
  purpose: string;
}

export const BACKEND_WORDS: Readonly<Record<ChoosingKind, BackendWords>> = {
  weightedBackend: {
    noun: 'weighted backend',
    plural: 'weighted backends',
    listPath: listPaths.weighted,
    purpose:
      'A weighted backend sends each visit to one of other backends, chosen at random by their weights: to try a new version on a few visitors, or to share traffic between sites.',
  },
  failoverBackend: {
    noun: 'failover backend',
    plural: 'failover backends',
    listPath: listPaths.failover,
    purpose:
      'A failover backend sends each visit to the first of other backends that is online, and back to an earlier one when it returns.',
  },
  httpResponseBackend: {
    noun: 'HTTP response',
    plural: 'HTTP responses',
    listPath: listPaths.responses,
    purpose:
      'An HTTP response is given by the gateway itself to every request, always the same: a page that says that a shop is closed. Routes use it, and failover backends as their last choice.',
  },
  staticBackend: {
    noun: 'static backend',
    plural: 'static backends',
    listPath: listPaths.static,
    purpose:
      'A static backend is a host and a port that the gateway connects to itself, without an agent: a service that it can reach.',
  },
};

const KINDS_BY_TYPE = {
  WeightedBackend: 'weightedBackend',
  FailoverBackend: 'failoverBackend',
  HttpResponseBackend: 'httpResponseBackend',
  StaticBackend: 'staticBackend',
} as const satisfies Record<string, ChoosingKind>;

type TypeName = keyof typeof KINDS_BY_TYPE;

export interface NamedBackend {
  __typename: TypeName;
  id: string;
  description: string;
  /** Of a static one. */
  address?: string;
}

/** Whether an object is such a backend. */
export function isChoosing<T extends { __typename: string }>(node: T): node is Extract<T, { __typename: TypeName }> {
  return node.__typename in KINDS_BY_TYPE;
}

export function backendTitle({ __typename, id, description, address }: NamedBackend): string {
  return `${description || address || id} (${BACKEND_WORDS[KINDS_BY_TYPE[__typename]].noun})`;
}

/** Words as a title: `HTTP response` stays as it is. */
export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
