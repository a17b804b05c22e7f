// Strangers: four times a second the whole schema under twenty aliases, documents of 10 kB that are over the limits, and
// keys that never were, each another one.

import { randomBytes } from 'node:crypto';
import type { Attack } from '../attack.ts';
import { attackGraphql, type Sent } from '../graphql-client.ts';

const PER_SECOND = 12;

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');

const aliased = `{ ${times(20, (n) => `a${n}: __schema{...s}`)} } fragment s on __Schema { types { name description
  fields { name description args { name description type { ...t } } type { ...t } } inputFields { name type { ...t } }
  enumValues { name } } } fragment t on __Type { kind name ofType { kind name ofType { kind name ofType { name } } } }`;
const large = `{ credentials(first: 1) { ${times(450, () => 'nodes { id uri owner }')} } }`;

const kinds: (() => Sent)[] = [
  () => ({ body: { query: aliased }, key: null }),
  () => ({ body: { query: large }, key: null }),
  () => ({ body: { query: '{ credentials { totalCount } }' }, key: randomBytes(24).toString('base64url') }),
];

export const attack: Attack = {
  name: 'A1 aliased introspection, documents over the limits, unknown keys',
  run: ({ api }, signal) =>
    attackGraphql(api, PER_SECOND, (number) => (kinds[number % kinds.length] ?? kinds[0])?.() as Sent, signal),
};
