// The tables in the manual of traffic policies: they name what the code has, and nothing else.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReachableHosts } from '../../src/net/reachable-hosts.ts';
import { actionKinds } from '../../src/policy/actions/registry.ts';
import { OutboundHttp } from '../../src/policy/calls/outbound-http.ts';
import { environmentOf } from '../../src/policy/cel/environment.ts';
import { SECRETS_VARIABLE } from '../../src/policy/cel/secret-names.ts';
import { vocabularyOf } from '../../src/policy/cel/variables/phase-vocabulary.ts';
import { dryRun } from '../../src/policy/dry-run/dry-run.ts';
import { secretMembers } from '../../src/protocol/policy/policy-secrets.ts';
import { FOREIGN_NAMESPACE } from '../../src/tunnel/control/compatibility.ts';
import { type Issuer, keyPair, signed, startIssuer } from '../policy/actions/issuer.ts';
import { action, onConnect, onRequest, onResponse } from '../policy/documents/support.ts';
import { NOON } from '../policy/exchange-support.ts';
import { coded, owner, part, refusalOf, rows, spelled } from './policy-manual.ts';

const unasked = () => Promise.reject(new Error('nobody signs in here'));

describe('actions', () => {
  const PHASES: Record<string, string> = {
    ...{ connection: 'on_tcp_connect', request: 'on_http_request', response: 'on_http_response' },
  };
  const table = new Map(rows('actions').map((row) => [coded(row[0] ?? '')[0], row]));
  const kinds = actionKinds.map((kind) => ({ type: kind.type, kind, row: table.get(kind.type) ?? [] }));

  /** What is wrong with an action that is told this. */
  function complaints({ type, phases }: (typeof actionKinds)[number], config: object): string[] {
    const policy = { [phases.at(-1) as string]: [{ actions: [{ type, config }] }] };
    return refusalOf(policy)?.problems.map(({ path, message }) => `${path} ${message}`) ?? [];
  }

  test('all of them are there, by all of their names, and no other', () => {
    const names = rows('actions').map(([cell = '']) => coded(cell));
    expect(names).toEqual(actionKinds.map(({ type, aliases = [] }) => [type, ...aliases]));
  });

  test.each(kinds)('the phases of $type, and the endpoints that it is for', ({ kind, row }) => {
    const [words = '', protos] = (row[1] ?? '').split(', of ');
    expect(words.split(', ').map((word) => PHASES[word])).toEqual(kind.phases);
    expect(protos).toBe(kind.protos?.join(' and '));
  });

  test.each(kinds)('the settings of $type, all of them, and no other', ({ kind, row }) => {
    const paths = coded(row[2] ?? '');
    expect(new Set(paths.map((path) => /^\w+/.exec(path)?.[0]))).toEqual(new Set(kind.members));
    for (const path of paths) {
      const set = (value: unknown, name: string) => ({
        [name.replace('[]', '')]: name.endsWith('[]') ? [value] : value,
      });
      const config = path.split('.').reduceRight<unknown>(set, 'a') as object;
      expect(complaints(kind, config).filter((text) => / is not known(?: here|:)/.test(text))).toEqual([]);
    }
  });

  test('which settings are secrets', () => {
    const table = rows('secrets').map(([types = '', members = '']) => [coded(types), coded(members)]);
    const secret = kinds.map(({ kind }) => [
      [kind.type, ...(kind.aliases ?? [])],
      secretMembers(kind.type).map(({ name }) => (name === 'credentials' ? 'credentials[]' : name)),
    ]);
    expect(table).toEqual(secret.filter(([, members]) => members?.length));
    for (const { type, aliases = [] } of actionKinds)
      for (const alias of aliases) expect(secretMembers(alias)).toEqual(secretMembers(type));
  });

  test.each(kinds)('which settings of $type may have templates', ({ kind, row }) => {
    const open = ['${', ['${'], { 'x-a': '${' }, [{ a: '${' }]];
    const computed = kind.members.filter((name) =>
      open.some((value) => complaints(kind, { [name]: value }).some((text) => text.includes('is not closed'))),
    );
    const marked = [...(row[2] ?? '').matchAll(/`(\w+)`†/g)].map(([, name]) => name);
    // `content` is `body`, and marked there; the others have expressions.
    const others = ['content', 'bucket_key', 'retry_condition'];
    expect(marked.sort()).toEqual(computed.filter((name) => !others.includes(name)).sort());
  });

  const limits = kinds.flatMap(({ type, kind, row }) =>
    [...(row[2] ?? '').matchAll(/`(\w+)`†? ((?:up to )?[\d.]+\w*(?: to [\d.]+\w*)?)/g)].map(
      ([, name = '', limit = '']) => ({ type, kind, name, limit }),
    ),
  );
  test.each(limits)('$type: $name has $limit', ({ kind, name, limit }) => {
    const many = Array(1001).fill('a');
    const wrong = [-1, '0s', 'a'.repeat(10_000), [], many, {}, Object.fromEntries(many.slice(900).entries())];
    const complaint = `config.${name} must .*${limit.replace('up to', 'at most').replace('.', '\\.')}\\b`;
    expect(wrong.flatMap((value) => complaints(kind, { [name]: value })).join('\n')).toMatch(new RegExp(complaint));
  });

  let issuer: Issuer;
  let token: string;
  beforeAll(async () => {
    const key = await keyPair();
    issuer = await startIssuer([key]);
    token = await signed(key, { iss: issuer.url });
  });
  afterAll(() => issuer.close());

  test('what they say of themselves, and nothing that they never say', async () => {
    const trust = { issuer: { allow_list: [{ value: issuer.url }] }, jws: { allowed_algorithms: ['ES256'] } };
    const tokens = [{ type: 'jwt', method: 'header', name: 'x-token' }];
    const limit = { name: 'a', algorithm: 'sliding_window', capacity: 1, rate: '60s', bucket_key: ["'a'"] };
    const policy = {
      ...onConnect([action('terminate-tls')]),
      ...onRequest([
        action('add-headers', { headers: { a: 'b' } }),
        action('remove-headers', { headers: ['a'] }),
        action('set-headers', { headers: { a: 'b' } }),
        action('basic-auth', { credentials: ['user:password'], enforce: false }),
        action('restrict-ips', { deny: ['10.0.0.0/8'] }),
        action('rate-limit', limit),
        action('log', { metadata: { a: 1 } }),
        action('verify-webhook', { provider: 'github', secret: 'a', enforce: false }),
        action('jwt-validation', { ...trust, http: { tokens } }),
        action('request-body-find-replace', { replacements: [{ from: 'a', to: 'b' }] }),
        action('http-request', { url: issuer.jwks }),
        action('http-request', { url: 'http://127.0.0.1:1' }),
        action('openid-connect', { issuer_url: issuer.url, client_id: 'a', client_secret: 'b' }),
        action('redirect', { from: 'nowhere', to: '/a' }),
        action('url-rewrite', { from: 'nowhere', to: '/a' }),
        action('forward-internal', { url: 'https://a.internal', on_error: 'continue' }),
      ]),
      ...onResponse([
        action('compress-response'),
        action('response-body-find-replace', { replacements: [{ from: 'a' }] }),
        action('sse-find-replace', { replacements: [{ from: 'a' }] }),
      ]),
    };
    const request = {
      url: 'https://app.example.com/',
      body: 'a',
      headers: [
        { name: 'x-token', value: token },
        { name: 'cookie', value: `__Host-gateway_session.visitor=${'a'.repeat(43)}` },
      ],
    };
    const outbound = new OutboundHttp({ hosts: new ReachableHosts([], true) });
    const sendOutbound = outbound.send.bind(outbound);
    const world = {
      internal: () => undefined,
      time: () => NOON,
      policyHosts: new ReachableHosts([], true),
      sendOutbound,
      visitorSessions,
    };
    // A policy has one action that signs in.
    const second = onRequest([action('oauth', { provider: 'github', client_id: 'a', client_secret: 'b' })]);
    const runs = [policy, second].map((one) =>
      dryRun(JSON.stringify(one), owner, request, { status: 200, body: 'a' }, world).then(({ rules }) => rules),
    );
    const ran = (await Promise.all(runs)).flat();
    outbound.close();
    const results = new Map<string, object[]>();
    for (const { type, result } of ran.flatMap(({ actions }) => actions))
      results.set(type, [...(results.get(type) ?? []), result ?? {}]);
    for (const { type, kind, row } of kinds) {
      const [name, ...members] = coded(row[4] ?? '');
      expect(name, type).toBe(kind.result);
      expect(new Set(members), type).toEqual(new Set(namesIn(results.get(type))));
    }
  });

  /** A visitor who is signed in, for whom there is nobody else to ask. */
  const visitorSessions = {
    ...{ begin: unasked, finish: unasked, end: unasked, hold: () => () => {} },
    find: () => ({
      ...{ id: 'apps_1', userId: 'appu_1', subject: 'ann', name: 'Ann', email: 'ann@example.com', wasChecked: false },
      ...{ idToken: 'i', accessToken: 'a', refreshToken: 'r', accessExpiresAt: NOON, usableUntil: NOON },
      failure: { error: 'signInUnavailable', reason: 'it is away' } as const,
    }),
  };

  /** The names of members, also of those within; not what only this visit has. */
  function namesIn(value: unknown): string[] {
    if (Array.isArray(value)) return value.flatMap(namesIn);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) =>
      /^(?:headers_added|headers_set|metadata|headers?|response_header|payload)$/.test(name)
        ? name
        : [name, ...namesIn(inner)],
    );
  }
});

describe('expressions', () => {
  const vocabulary = vocabularyOf('on_http_response', 'https');
  const onAnswer = (expression: string) => onResponse([action('log', { metadata: {} })], expression);

  const named = (mark: string) =>
    rows(mark).flatMap(([names = '', type]) =>
      coded(names)
        .flatMap(spelled)
        .map((name) => `${name}: ${type}`),
    );

  test.each([
    ['on_tcp_connect'],
    ['on_tcp_connect', 'on_http_request'],
    ['on_tcp_connect', 'on_http_request', 'on_http_response'],
  ] as const)('the variables from %s on, with their types, and no other', (...phases) => {
    const { variables } = vocabularyOf(phases.at(-1) ?? 'on_tcp_connect', 'https');
    const known = Object.entries(variables)
      .filter(([name]) => name !== `actions.${FOREIGN_NAMESPACE}` && name !== SECRETS_VARIABLE)
      .map(([name, type]) => `${name}: ${String(type).replace('google.protobuf.Timestamp', 'timestamp')}`);
    const older = named('older names').filter((row) => phases.length === 3 || known.includes(row));
    expect([...phases.flatMap(named), ...older].sort()).toEqual(known.sort());
  });

  test('functions, with how many arguments they take, and no other', () => {
    const receivers: Record<string, string> = {
      ...{ string: 'text', list: 'list', map: 'map', bytes: 'bytes' },
      ...{ 'google.protobuf.Timestamp': 'time', 'google.protobuf.Duration': 'span' },
    };
    const known = new Set<string>();
    for (const { name, target, arguments: args } of environmentOf(vocabulary).env.funcs) {
      if (!/^[a-z]/i.test(name)) continue;
      const on = target ? `${receivers[target.toString().replace(/\(.*/, '')]}.` : '';
      known.add(`${on}${name}/${args.length - (name in vocabulary.contextual ? 1 : 0)}`);
    }
    const written = new Set<string>();
    for (const [, name, list = ''] of part('functions').matchAll(/`([\w.]+)\(([^`]*)\)`/g)) {
      const args = list.split(', ').filter(Boolean);
      const least = args.filter((arg) => !arg.endsWith('?')).length;
      for (let count = least; count <= args.length; count++) written.add(`${name}/${count}`);
    }
    expect([...written].sort()).toEqual([...known].sort());
  });

  test.each(coded(part('macros')))('%s is a condition', (expression) => {
    expect(refusalOf(onAnswer(expression))?.message).toBeUndefined();
  });

  test.each(rows('missing').flatMap(([names = '']) => coded(names)))('%s is refused, with a reason', (name) => {
    const expression = `${name.replace('vault, name', "'a', 'b'")} == 'a'`;
    const refusal = refusalOf(/^[a-z-]+$/.test(name) ? onRequest([action(name)]) : onAnswer(expression));
    const reason = /needs|is not (?:available|computed|known yet)|would have to|cannot be told|is known inside/;
    expect(refusal?.message).toMatch(reason);
  });
});
