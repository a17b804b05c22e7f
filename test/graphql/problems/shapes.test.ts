// Inputs that are not of their types: one answer tells of everything that is wrong, wherever it was written.

import {
  type GraphQLInputType,
  getNamedType,
  isInputObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/api/schema.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let base: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  base = await gateway.byYoga();
});

interface Problem {
  path: (string | number)[];
  code: string;
  message: string;
}

async function problemsOf(query: string, variables: object = {}): Promise<Problem[]> {
  const { body } = await account.graphql(query, variables);
  return body.errors.flatMap(({ extensions }: { extensions: { problems?: Problem[] } }) => extensions.problems ?? []);
}

const short = (problems: Problem[]) => problems.map(({ path, code }) => [path.join('.'), code]);

const createWith = 'mutation ($in: CreateCredentialInput!) { createCredential(input: $in) { token } }';
const create = (input: string) => `mutation { createCredential(input: ${input}) { token } }`;

describe.each([
  ['in a variable', (json: object) => problemsOf(createWith, { in: json })],
  [
    'in a variable for each member',
    ({ description, acl, ownerId }: Record<string, unknown>) =>
      problemsOf(
        `mutation ($d: String, $a: [String!], $o: ID) {
          createCredential(input: { description: $d, acl: $a, ownerId: $o }) { token } }`,
        { d: description, a: acl, o: ownerId },
      ),
  ],
  [
    'written into the document',
    ({ description, acl, ownerId }: Record<string, unknown>) =>
      problemsOf(
        create(`{ ownerId: ${JSON.stringify(ownerId)}, acl: ${JSON.stringify(acl)}, description: ${description} }`),
      ),
  ],
])('values of wrong types %s', (_, ask) => {
  test('are each a problem, with the path from the argument on, a code and a text, in the order of the type', async () => {
    const wrong = await ask({ acl: ['*', 1, null], ownerId: true, description: 7 });
    const text = 'it must be a string.';
    expect(wrong).toEqual(
      expect.arrayContaining([
        { path: ['input', 'description'], code: 'WRONG_VALUE', message: expect.stringContaining(text) },
        {
          path: ['input', 'acl', 1],
          code: 'WRONG_VALUE',
          message: expect.stringMatching(/\[1\] is not valid: it must/),
        },
        { path: ['input', 'acl', 2], code: 'MISSING_MEMBER', message: expect.stringMatching(/\[2\] is required/) },
        { path: ['input', 'ownerId'], code: 'WRONG_VALUE', message: expect.stringContaining(text) },
      ]),
    );
    expect(wrong).toHaveLength(4);
  });
});

test('who reads one error reads the first one, as if it were alone', async () => {
  const both = await account.graphql(createWith, { in: { description: 7, metadata: 8 } });
  const one = await account.graphql(createWith, { in: { description: 7 } });
  const without = ({ body }: typeof both) => {
    const [{ message, extensions }] = body.errors;
    return { count: body.errors.length, message, ...extensions, problems: undefined, operationId: undefined };
  };
  expect(without(both)).toEqual(without(one));
  expect(without(both)).toMatchObject({ count: 1, errorCode: 'ERR_GATEWAY_215', field: 'in.description' });
});

test('each unknown member is a problem, in variables and in literals', async () => {
  const unknown = [
    ['input.colour', 'UNKNOWN_MEMBER'],
    ['input.a.b', 'UNKNOWN_MEMBER'],
  ];
  expect(short(await problemsOf(createWith, { in: { colour: 1, 'a.b': 2 } }))).toEqual(unknown);
  expect(short(await problemsOf(create('{ colour: 1, size: 2 }')))).toEqual([
    unknown[0],
    ['input.size', 'UNKNOWN_MEMBER'],
  ]);
  const [, stranger] = await problemsOf(createWith, { in: { colour: 1, 'a.b': 2 } });
  expect(stranger?.path).toEqual(['input', 'a.b']);
});

test('members and arguments that are missing are named, of nested inputs too', async () => {
  const missing = [
    ['edgeId', 'MISSING_MEMBER'],
    ['input.match', 'MISSING_MEMBER'],
    ['input.policy.inbound.0.actions', 'MISSING_MEMBER'],
    ['input.circuitBreaker.numBuckets', 'WRONG_VALUE'],
  ];
  const variables = { in: { matchType: 'PATH_PREFIX', policy: { inbound: [{}] }, circuitBreaker: { numBuckets: -1 } } };
  const given =
    'mutation ($e: ID!, $in: CreateHttpsEdgeRouteInput!) { createHttpsEdgeRoute(edgeId: $e, input: $in) { httpsEdgeRoute { id } } }';
  const written = `mutation { createHttpsEdgeRoute(input: {
    policy: { inbound: [{}] }, circuitBreaker: { numBuckets: -1 }, matchType: PATH_PREFIX }) { httpsEdgeRoute { id } } }`;
  for (const problems of [await problemsOf(given, variables), await problemsOf(written)])
    expect(short(problems).toSorted()).toEqual(missing.toSorted());
});

test('arguments of lists are blamed by their own names, wherever the list stands', async () => {
  const root = 'query ($n: Int) { credentials(first: $n) { totalCount } }';
  expect(short(await problemsOf(root, { n: 'x' }))).toEqual([['first', 'WRONG_VALUE']]);
  expect(short(await problemsOf('{ credentials(first: 101) { totalCount } }'))).toEqual([
    ['first', 'LIMIT_OUT_OF_RANGE'],
  ]);
  expect(short(await problemsOf('{ credentials(first: "x") { totalCount } }'))).toEqual([['first', 'WRONG_VALUE']]);
  const several = '{ credentials(filter: "(", order: "colour", search: " a b c d e f g h i j k ") { totalCount } }';
  expect(short(await problemsOf(several)).map(([path]) => path)).toEqual(['filter', 'search', 'order']);
  const { body } = await account.call('GET', '/credentials?filter=(&order_by=colour');
  expect(Object.keys(body.details)).toEqual(['operation_id', 'filter', 'order_by']);
});

test('there are at most 100 problems, and it is said where they are cut', async () => {
  const acl = (count: number) => Array.from({ length: count }, () => 1);
  for (const [count, isCut] of [
    [100, undefined],
    [101, true],
    [1000, true],
  ] as const)
    for (const answer of [
      await account.graphql(createWith, { in: { acl: acl(count) } }),
      ...(count < 1000
        ? [await account.graphql(create(JSON.stringify({ acl: acl(count) }).replace('"acl"', 'acl')))]
        : []),
    ]) {
      const [{ extensions }] = answer.body.errors;
      expect(extensions.problems).toHaveLength(100);
      expect(extensions.problemsTruncated).toBe(isCut);
    }
  const { body } = await account.call('POST', '/credentials', { acl: acl(101) });
  expect(Object.keys(body.details)).toHaveLength(102);
  expect(body.details).toMatchObject({
    'acl[99]': expect.any(String),
    problems_truncated: expect.stringContaining('100'),
  });
});

test('errors that blame no member have no problems', async () => {
  const { body } = await account.graphql('{ credential(id: "cr_none") { id } a: nothing }');
  expect(body.errors.every(({ extensions }: { extensions: object }) => !('problems' in extensions))).toBe(true);
  const missing = await account.graphql('{ credential(id: "cr_none") { id } }');
  expect(missing.body.errors[0].extensions).toMatchObject({ code: 'NOT_FOUND' });
  expect(missing.body.errors[0].extensions.problems).toBeUndefined();
  const request = await account.graphql('{ viewer { id } }', 'x' as never);
  expect(request.body.errors[0].extensions).toMatchObject({ errorCode: 'ERR_GATEWAY_215', field: 'variables' });
  expect(request.body.errors[0].extensions.problems).toBeUndefined();
});

test('an operation that was compiled shows the same problems', async () => {
  const document = 'mutation Often($acl: [String!]) { createCredential(input: { acl: $acl }) { token } }';
  const answers = [];
  for (let use = 0; use < 5; use++) answers.push(short(await problemsOf(document, { acl: ['x', '*', 'y'] })));
  const wrong = [
    ['input.acl.0', 'BAD_ACL_RULE'],
    ['input.acl.2', 'BAD_ACL_RULE'],
  ];
  expect(answers).toEqual(Array(5).fill(wrong));
});

test('both ways of running operations show the same problems', async () => {
  const { body } = await account.graphql(createWith, { in: { description: 7, metadata: 8 } }, { base });
  expect(body.errors[0].extensions.problems.map(({ path }: Problem) => path.join('.'))).toEqual([
    'input.description',
    'input.metadata',
  ]);
});

describe('every mutation with an input', () => {
  /** What is no text, no id, no whole number, no word and no object. */
  const WRONG = 7.5;
  const takesAnything = (type: GraphQLInputType) => ['Float', 'Json'].includes(getNamedType(type).name);
  const inputs = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(({ name, args, type }) => {
    const input = getNamedType(args.find((argument) => argument.name === 'input')?.type);
    return isInputObjectType(input)
      ? [
          {
            name,
            args,
            type: String(input),
            answer: String(getNamedType(type)),
            fields: Object.values(input.getFields()),
          },
        ]
      : [];
  });

  test.each(inputs.map((input) => [input.name, input] as const))(
    '%s tells of all of its members',
    async (name, input) => {
      const wrong = input.fields.filter(({ type }) => !takesAnything(type));
      const expected = input.fields
        .filter((field) => wrong.includes(field) || isRequiredInputField(field))
        .map((field) => `input.${field.name}`);
      const values = Object.fromEntries(wrong.map((field) => [field.name, WRONG]));
      const others = input.args.filter((argument) => argument.name !== 'input' && isRequiredArgument(argument));
      const ids = others.map(({ name: argument }) => `, ${argument}: "x"`).join('');
      const ask = (declared: string, written: string) =>
        `mutation ${declared} { ${name}(input: ${written}${ids}) { __typename } }`;
      const given = await problemsOf(ask(`($input: ${input.type}!)`, '$input'), { input: values });
      const written = await problemsOf(ask('', `{ ${wrong.map((field) => `${field.name}: ${WRONG}`).join(', ')} }`));
      expect(given.map(({ path }) => path.join('.'))).toEqual(expected.slice(0, 100));
      expect(written).toEqual(given);
    },
  );
});
