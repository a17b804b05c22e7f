// Backends that are no tunnel groups: what they are called. They are made with the API.

/** The kinds, as in the change feed. */
export const CHOOSING_KINDS = ['weightedBackend', 'failoverBackend', 'httpResponseBackend', 'staticBackend'];

export const BACKEND_NOUNS = {
  WeightedBackend: 'weighted backend',
  FailoverBackend: 'failover backend',
  HttpResponseBackend: 'HTTP response',
  StaticBackend: 'static backend',
};

type TypeName = keyof typeof BACKEND_NOUNS;

export interface NamedBackend {
  __typename: TypeName;
  id: string;
  description: string;
  /** Of a static backend. */
  address?: string;
}

/** Whether an object is such a backend. */
export function isChoosing<T extends { __typename: string }>(node: T): node is Extract<T, { __typename: TypeName }> {
  return node.__typename in BACKEND_NOUNS;
}

export function backendTitle({ __typename, id, description, address }: NamedBackend): string {
  return `${description || address || id} (${BACKEND_NOUNS[__typename]})`;
}
