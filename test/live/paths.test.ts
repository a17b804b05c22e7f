// Paths that servers read differently: none leads past what guards another one.

import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newName } from './edges/support.ts';
import { newRoute, type PolicyLab, type Seen, startPolicyLab } from './policy/lab.ts';

const AMBIGUOUS = 'ERR_GATEWAY_90360';
const agent = new Agent({ keepAlive: true });
let lab: PolicyLab;
/** Names of endpoints: an edge with a route for `/admin`, tunnels with policies for it, an edge with one route for all. */
const names = { edge: newName('paths'), policy: newName('paths'), rewrite: newName('paths'), whole: newName('paths') };

beforeAll(async () => {
  lab = await startPolicyLab();
  const labels = { app: names.edge };
  await lab.labelled(labels);
  const all = await newRoute(lab, names.edge, labels);
  const { body: admin } = await lab.account.call('POST', all.replace(/\/[^/]+$/, ''), {
    match_type: 'path_prefix',
    match: '/admin',
    basic_auth: { credentials: [{ username: 'me', password: 'a long password' }] },
  });
  expect(admin).toMatchObject({ match: '/admin', basic_auth: { enabled: true } });
  await newRoute(lab, names.whole, labels);
  const deny = { actions: [{ type: 'deny', config: { status_code: 401 } }] };
  const guard = { ...deny, expressions: ["req.url.path.startsWith('/admin')"] };
  await lab.tunnel('https', names.policy, { on_http_request: [guard] });
  const rewrite = { actions: [{ type: 'url-rewrite', config: { from: '^https://[^/]+/admin', to: '/nothing' } }] };
  await lab.tunnel('https', names.rewrite, { on_http_request: [rewrite] });
});
afterAll(async () => {
  agent.destroy();
  for (const session of sessions.values()) session.destroy();
  await lab?.close();
});

const transports = {
  'HTTP/1.1': (name: string, path: string) => lab.visit(`https://${name}/`, { path, agent }),
  'HTTP/2': overHttp2,
};

const sessions = new Map<string, ClientHttp2Session>();

async function overHttp2(name: string, path: string): Promise<Seen> {
  const { https, ca } = lab.gateway;
  const session = sessions.get(name) ?? connect(`https://${https}`, { ca, servername: name });
  sessions.set(name, session);
  const stream = session.request({ ':path': path, ':authority': name });
  const [{ ':status': status = 0, ...headers }] = await once(stream, 'response');
  stream.resume();
  return { status, headers, body: '' };
}

/** What became of a visit; the target as the upstream got it, where it did. */
function outcome(seen: Seen): string {
  const asked = lab.upstream.asked.splice(0).map(({ target }) => target);
  const code = seen?.headers['gateway-error-code'];
  if (asked.length > 0) return `upstream ${asked.join()}`;
  return `${seen?.status} ${code === AMBIGUOUS ? 'ambiguous' : ''}`.trim();
}

const misleading = [
  '//admin/x',
  '///admin/x',
  '/%2fadmin/x',
  '/%2Fadmin/x',
  '/%5cadmin/x',
  '/\\admin/x',
  '/pub/..%2fadmin/x',
  '/pub/..%5Cadmin/x',
  '/pub/..\\admin/x',
  '/pub/%2e%2e%2fadmin/x',
  '/pub%2f../admin/x',
  '/pub%2f..%2fadmin',
  '/pub//../admin',
  '/pub//../../admin/..',
  '/.//admin/x',
  '/./%2fadmin',
  '//./admin',
  '/pub/%c0%ae%c0%ae/admin',
  '/%c0%afadmin',
  '/%e0%80%afadmin',
];

const guarded = [
  '/admin',
  '/admin/',
  '/admin/x?y',
  '/%61dmin/x',
  '/%61%64%6D%69%6e',
  '/./admin/x',
  '/pub/../admin/x',
  '/pub/%2e%2e/admin',
  '/pub/%2E./admin/x',
  '/pub/x/../../admin/.',
  '/../admin',
  '/admin;x=1/y',
  '/admin%2e',
];

const harmless = [
  '/',
  '/pub?next=//admin/%2f..%2f&x=%zz',
  '/a%20b/caf%C3%A9',
  '/%7Euser/%40me/%21?%00',
  '/%252fadmin/x',
  '/pub/%252e%252e/admin',
  '/a/./b/../c/.well-known',
  '/a|b^c[d]{e}',
  '/100%25',
  '/Admin',
  '/pub/;/admin',
];

describe.each(['HTTP/1.1', 'HTTP/2'] as const)('over %s', (transport) => {
  const visit = (name: string, path: string) => transports[transport](name, path).then(outcome);

  test.each(misleading)('%s gets past neither a route nor a policy for /admin', async (path) => {
    expect(await visit(names.edge, path)).toBe('400 ambiguous');
    expect(await visit(names.policy, path)).toBe('400 ambiguous');
    expect(await visit(names.rewrite, path)).toBe('400 ambiguous');
  });

  test.each(guarded)('%s is /admin, in whatever spelling', async (path) => {
    expect(await visit(names.edge, path)).toBe('401');
    expect(await visit(names.policy, path)).toBe('401');
    expect(await visit(names.rewrite, path)).toMatch(/^upstream \/nothing/);
  });

  test.each(harmless)('%s goes to the upstream byte for byte', async (path) => {
    for (const name of [names.edge, names.policy, names.rewrite, names.whole])
      expect(await visit(name, path)).toBe(`upstream ${path}`);
  });

  test.each([...misleading, '/%zz', '/x%00'])('%s passes untouched where nothing goes by paths', async (path) => {
    expect(await visit(names.whole, path)).toBe(`upstream ${path}`);
  });

  test('where all readings have the same route, that is taken', async () => {
    for (const path of ['/api//x', '/api/group%2Fproject', '/api%5Cx'])
      expect(await visit(names.edge, path)).toBe(`upstream ${path}`);
    for (const path of ['/admin//x', '/admin/group%2Fproject']) expect(await visit(names.edge, path)).toBe('401');
  });

  test('what cannot be decoded is refused where something goes by paths', async () => {
    for (const path of ['/%zz', '/a%', '/admin%00', '/x%00/y'])
      for (const name of [names.edge, names.policy]) expect(await visit(name, path), path).toBe('400 ambiguous');
  });
});

test('a target in absolute form is its path', async () => {
  const visit = (name: string, path: string) => transports['HTTP/1.1'](name, `https://${name}${path}`).then(outcome);
  expect(await visit(names.edge, '//admin/x')).toBe('400 ambiguous');
  expect(await visit(names.policy, '/pub/..%2fadmin')).toBe('400 ambiguous');
  expect(await visit(names.edge, '/%61dmin')).toBe('401');
});
