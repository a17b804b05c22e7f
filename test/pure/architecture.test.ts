import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

// A room may import itself and the rooms listed after it, never one listed before.
const rooms = [
  'tools',
  'main.ts',
  'gateway',
  'monitoring',
  'config',
  'api',
  'store',
  'events',
  'capture',
  'edge',
  'policy',
  'http',
  'net',
  'cluster',
  'tunnel',
  'protocol',
  'runtime',
  'create-file-atomically.ts',
];

// The same inside the folders that are large enough to have an order of their own.
const layersOf: Record<string, string[]> = {
  store: [
    'first-start.ts',
    'backup',
    'server-key',
    'sign-in',
    'nodes',
    'tunnels',
    'edges',
    'events',
    'domains',
    'changes',
    'keys',
    'database',
    'embedded',
    'generated',
    'node-lease.ts',
    'settings.ts',
    'ids.ts',
  ],
  api: [
    'server.ts',
    'audit',
    'dashboard',
    'rest',
    'graphql',
    'schema.ts',
    'resources',
    'modules',
    'collections',
    'idempotency.ts',
    'http',
    'sign-in',
    'builder',
    'context.ts',
    'write-errors.ts',
    'dependencies.ts',
    'resource.ts',
    'text-limits.ts',
    'errors',
    'exchange.ts',
    'naming.ts',
    'route.ts',
    'settings.ts',
  ],
  events: ['delivery', 'traffic', 'sinks', 'batch.ts', 'event.ts', 'types.ts', 'settings.ts'],
  'events/delivery': [
    'deliverer.ts',
    'deliver-batches.ts',
    'test-delivery.ts',
    'open-sinks.ts',
    'backoff.ts',
    'counters.ts',
    'send.ts',
    'request.ts',
    'stored-batches.ts',
    'destination-queue.ts',
  ],
  'events/sinks': [
    'secrets.ts',
    'index.ts',
    'aws',
    'azure',
    'datadog.ts',
    'file.ts',
    'otlp.ts',
    'webhook.ts',
    'descriptor.ts',
    'http',
    'sink.ts',
    'target-error.ts',
  ],
  'events/traffic': [
    'traffic-events.ts',
    'buffer.ts',
    'destination-buffer.ts',
    'semaphore.ts',
    'subscribers.ts',
    'account-subscribers.ts',
    'selection.ts',
    'filter.ts',
    'objects.ts',
    'connection-object.ts',
    'request-object.ts',
    'report-fields.ts',
    'headers.ts',
    'json-string.ts',
    'timestamps.ts',
    'fields.ts',
    'store.ts',
    'counters.ts',
  ],
  'api/resources': [
    'index.ts',
    'overview',
    'policies',
    'capture',
    'credentials',
    'domains',
    'events',
    'https-edges.ts',
    'https-edge-routes.ts',
    'tls-edges.ts',
    'ip-policies.ts',
    'ip-policy-rules.ts',
    'certificate-authorities.ts',
    'tunnel-group-backends.ts',
    'edges',
    'certificates',
    'tunnels',
    'accounts',
  ],
  edge: [
    'tunnel-modules.ts',
    'edges',
    'http-modules.ts',
    'tls',
    'tcp',
    'http1',
    'http2',
    'pipeline',
    'upstream',
    'websocket',
    'reports',
    'metrics',
    'visitors',
    'modules',
    'codec',
    'proxy-protocol',
    'settings.ts',
    'addresses.ts',
  ],
  policy: [
    'dry-run',
    'secrets',
    'compile',
    'actions',
    'run',
    'settings',
    'webhooks',
    'auth',
    'keys',
    'shared-limiters.ts',
    'rate-limiter.ts',
    'cel',
  ],
  cluster: [
    'settings.ts',
    'link-listener.ts',
    'cluster-endpoints.ts',
    'remote-tunnels.ts',
    'remote-tunnel.ts',
    'remote-meters.ts',
    'descriptions.ts',
    'session-commands-by-link.ts',
    'broadcast.ts',
    'cluster-query.ts',
    'cluster-calls.ts',
    'node-links.ts',
    'node-peer.ts',
    'node-link.ts',
    'visit.ts',
    'incoming-visits.ts',
    'link-counters.ts',
    'splice.ts',
    'dial-node.ts',
    'node-identity.ts',
  ],
  tunnel: ['session', 'bind', 'tunnel-modules.ts', 'control', 'endpoints', 'connections', 'network'],
  protocol: [
    'index.ts',
    'messages',
    'relay.ts',
    'mux',
    'policy',
    'defect.ts',
    'line-writer.ts',
    'byte-budget.ts',
    'concurrency-limit.ts',
    'tls-suites.ts',
  ],
};

const source = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/generated|^boot\/|^dashboard\//.test(file),
);

const imports = source.flatMap((file) =>
  [...readFileSync(join('src', file), 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, target = '']) => ({
    file,
    target: relative('src', resolve('src', file, '..', target)),
  })),
);

const roomOf = (file: string) => file.split('/')[0] ?? '';
const rank = (file: string) => rooms.indexOf(roomOf(file));

test('every file belongs to a room of the house', () => {
  expect(source.filter((file) => rank(file) < 0)).toEqual([]);
});

test('no room imports one above it', () => {
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter(({ file, target }) => rank(target) < rank(file))).toEqual([]);
});

test.each(Object.entries(layersOf))('no layer inside %s imports one above it', (folder, layers) => {
  const isInside = (file: string) => file.startsWith(`${folder}/`);
  const layerOf = (file: string) => layers.indexOf(file.slice(folder.length + 1).split('/')[0] ?? '');
  const inside = source.filter(isInside);
  expect(inside.filter((file) => layerOf(file) < 0)).toEqual([]);
  const own = imports.filter(({ file, target }) => isInside(file) && isInside(target));
  expect(own.filter(({ file, target }) => layerOf(target) < layerOf(file))).toEqual([]);
});

test('no files import each other in a circle, not even types', () => {
  const importsOf = new Map(source.map((file) => [file, [] as string[]]));
  for (const { file, target } of imports) importsOf.get(file)?.push(target);
  // Whoever imports nothing that is left, or is imported by nobody who is, is in no circle.
  for (let before = -1; before !== importsOf.size; ) {
    before = importsOf.size;
    const imported = new Set([...importsOf.values()].flat());
    for (const [file, targets] of importsOf)
      if (!imported.has(file) || !targets.some((target) => importsOf.has(target))) importsOf.delete(file);
  }
  expect([...importsOf.keys()]).toEqual([]);
});

test('GraphQL stays in api; Prisma stays in store and api', () => {
  const users = (pattern: RegExp) =>
    [...new Set(source.filter((file) => pattern.test(readFileSync(join('src', file), 'utf8'))).map(roomOf))].sort();
  expect(users(/from 'graphql|from '@pothos/)).toEqual(['api', 'tools']);
  expect(users(/generated\/prisma|from '@prisma/)).toEqual(['api', 'store', 'tools']);
});

test('only main and the tools read the environment', () => {
  const readers = source.filter((file) => /process\.env\b/.test(readFileSync(join('src', file), 'utf8')));
  expect(readers.filter((file) => !/^(main\.ts|tools\/)/.test(file))).toEqual(
    ['config/config.ts'].filter((file) => readers.includes(file)),
  );
});

test('no file of the source is longer than 250 lines', () => {
  expect(source.filter((file) => readFileSync(join('src', file), 'utf8').split('\n').length > 251)).toEqual([]);
});
