// A tenant: ever new documents, to push out those of the others, and operation names that make a wrong document look
// like one of theirs.

import type { Attack } from '../attack.ts';
import { attackGraphql } from '../graphql-client.ts';

const PER_SECOND = 100;
const THEIRS = 'query Credentials {\n  credentials { totalCount }\n}';

export const attack: Attack = {
  name: 'B7 the documents of others',
  run({ api, tenant: { key } }, signal) {
    const break_ = THEIRS.indexOf('\n');
    const poison = { operationName: THEIRS.slice(0, break_), query: THEIRS.slice(break_ + 1) };
    return attackGraphql(
      api,
      PER_SECOND,
      (number) => ({ key, body: number % 10 === 0 ? poison : { query: `{ __typename } # ${number}` } }),
      signal,
    );
  },
};
