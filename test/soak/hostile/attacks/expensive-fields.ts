// A tenant: twenty trial runs of a large policy in one document, and alone; searches that find nothing.

import type { Attack } from '../attack.ts';
import { attackGraphql, type Sent } from '../graphql-client.ts';

const PER_SECOND = 6;
const RULES = 100;

const rule = (number: number) => ({
  expressions: [`req.url.path.startsWith('/a${number}') && req.headers['x-a'].exists(v, v == 'b${number}')`],
  actions: [{ type: 'add-headers', config: { headers: { 'x-c': `${'$'}{req.url.path} ${number}` } } }],
});
const policy = JSON.stringify({ on_http_request: Array.from({ length: RULES }, (_, number) => rule(number)) });
const run = (alias: string) =>
  `${alias}: evaluatePolicy(policy: $policy, request: { method: "GET", url: "https://a.example/" }) { __typename }`;
const aliases = Array.from({ length: 20 }, (_, number) => run(`a${number}`)).join(' ');

export const attack: Attack = {
  name: 'B10 trial runs and searches',
  run({ api, tenant: { key } }, signal) {
    const variables = { policy };
    const bodies = [
      { query: `query ($policy: String!) { ${aliases} }`, variables },
      { query: `query ($policy: String!) { ${run('one')} }`, variables },
      { query: '{ search(text: "nothing-is-called-so", first: 50) { objectId } }' },
    ];
    const next = (number: number): Sent => ({ key, body: bodies[number % bodies.length] as object });
    return attackGraphql(api, PER_SECOND, next, signal);
  },
};
