// One exported name means one thing within a program, so that whoever searches for it finds one owner.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * Names that many files export by convention: each resource its `routes`, each screen its `Screen`, `tabs` and `listPaths`.
 * A module of edges has one name for its API and one for its effect, which is the key of its settings in both.
 */
const conventions = {
  routes: /^src\/api\/(resources|modules|schema)/,
  Screen: /^src\/dashboard\/screens\/[^/]+\/index\.tsx$/,
  tabs: /^src\/dashboard\/screens\/[^/]+\/navigation\.ts$/,
  listPaths: /^src\/dashboard\/screens\/[^/]+\/navigation\.ts$/,
  basicAuth: /^src\/(api|edge)\/modules\//,
  circuitBreaker: /^src\/(api|edge)\/modules\//,
  compression: /^src\/(api|edge)\/modules\//,
  oauth: /^src\/(api|edge)\/modules\//,
  oidc: /^src\/(api|edge)\/modules\//,
  requestHeaders: /^src\/(api|edge)\/modules\//,
  responseHeaders: /^src\/(api|edge)\/modules\//,
  upstream: /^src\/(api|edge)\/modules\//,
  userAgentFilter: /^src\/(api|edge)\/modules\//,
  webhookVerification: /^src\/(api|edge)\/modules\//,
  websocketTcpConverter: /^src\/(api|edge)\/modules\//,
} as const satisfies Record<string, RegExp>;

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => /\.tsx?$/.test(file) && !/generated|node_modules/.test(file));

const source = filesBelow('src');
const protocol = source.filter((file) => file.startsWith('src/protocol/'));
/** The programs do not import each other; gateway and agent share the protocol. */
const programs: Record<string, string[]> = {
  gateway: source.filter((file) => !file.startsWith('src/dashboard/')),
  dashboard: source.filter((file) => file.startsWith('src/dashboard/')),
  agent: [...filesBelow('agent/src'), ...protocol],
};

const DECLARATION =
  /^export (?:declare |abstract |async |default )*(?:const|let|class|interface|type|enum|function\*?) (\w+)/gm;

function isConvention(name: string, files: readonly string[]): boolean {
  const pattern = Object.hasOwn(conventions, name) && conventions[name as keyof typeof conventions];
  return pattern ? files.every((file) => pattern.test(file)) : false;
}

test.each(Object.entries(programs))('every name that the %s exports is declared in one file', (_, files) => {
  const owners = new Map<string, Set<string>>();
  for (const file of files)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(DECLARATION))
      owners.set(name, (owners.get(name) ?? new Set()).add(file));
  expect(owners.size).toBeGreaterThan(50);
  const shared = Array.from(owners, ([name, set]) => ({ name, files: [...set] })).filter(
    ({ name, files }) => files.length > 1 && !isConvention(name, files),
  );
  expect(shared).toEqual([]);
});
