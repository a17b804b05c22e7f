// Clients whose gateway goes away and comes back: they come back by themselves, hear that they do, and miss nothing that they can ask for.

import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type GatewayProcess, portsOf, startProcess } from '../../support/gateway/process.ts';
import { beforeRetry, PageCode } from '../page-code.ts';
import { follow, listOn, newEnvironment } from '../relay/manual-page.ts';
import { RelayPage } from '../relay/page.ts';
import { apolloOf, urqlOf } from '../store-clients.ts';
import { clientOf } from './socket-client.ts';

const CHANGES = { query: 'subscription { changes(kinds: ["credential"]) { changes { objectId } } }' };
const LIST = '{ credentials { nodes { __typename id description } } }';
const KEY = 'chosen-by-the-tests-0001';
/** Two workers, a new gateway beside them and five clients share a machine that may have other work. */
const SLOWLY = { timeout: 60_000 };

/** A client that shows the credentials. */
interface Page {
  name: string;
  /** What it shows: descriptions by ids. */
  shown(): Record<string, string>;
  /** What it met that it cannot overcome. */
  problems: unknown[];
  close(): unknown;
}

let gateway: GatewayProcess;
let pages: Page[];
/** Those whose connection is cut, and what they wait for before they come back. */
const cut = new Set<string>();
let mayComeBack = Promise.resolve();
let comeBack = () => {};
const retryWaitOf = (name: string) => async () => {
  cut.add(name);
  await mayComeBack;
  await beforeRetry();
};

beforeAll(async () => {
  gateway = await startProcess({ WORKERS: '2', DRAIN_MS: '60000', INITIAL_API_KEY: KEY });
  const retryAttempts = Number.POSITIVE_INFINITY;
  const socket = clientOf(gateway.api, KEY, { retryAttempts, retryWait: retryWaitOf('graphql-ws') });
  const headers = { authorization: `Bearer ${KEY}` };
  const events = createClient({
    url: `${gateway.api}/graphql`,
    headers,
    retryAttempts,
    retry: retryWaitOf('graphql-sse'),
  });
  pages = [
    await storePage('Apollo Client', apolloOf),
    await storePage('urql with graphcache', urqlOf),
    await relayPage('Relay'),
    barePage('graphql-ws', socket),
    barePage('graphql-sse', events),
  ];
});
afterAll(async () => {
  comeBack();
  for (const page of pages ?? []) await page.close();
  await gateway?.kill();
  await gateway?.place.remove();
});

/** What the manual has a page do: the store hears of changes, and whatever is shown is asked for again at a mark. */
async function storePage(name: string, storeOf: typeof apolloOf): Promise<Page> {
  const client = await storeOf(gateway.api, KEY, retryWaitOf(name));
  const list = await client.watch(LIST);
  await client.follow();
  const shown = () =>
    Object.fromEntries(
      list().credentials.nodes.map(({ id, description }: Record<string, string>) => [id, description]),
    );
  return { name, shown, problems: client.problems, close: client.close };
}

/** The same with Relay, whose warnings are problems, too. */
async function relayPage(name: string): Promise<Page> {
  const problems: unknown[] = [];
  const report = (problem: unknown) => void problems.push(problem);
  const warnings = (['error', 'warn'] as const).map((method) => vi.spyOn(console, method).mockImplementation(report));
  const code = new PageCode(gateway.api, KEY, retryWaitOf(name));
  const environment = await newEnvironment(code);
  const page = new RelayPage(environment);
  const list = await listOn(code, page, { first: 100 });
  let asking = Promise.resolve();
  const refetch = () => {
    asking = asking.then(() => list.fetch({ first: 100 })).catch(report);
  };
  const following = await follow(code, environment, refetch);
  const shown = () =>
    Object.fromEntries(list.rows().map(({ id, description }: Record<string, string>) => [id, description]));
  const close = async () => {
    following.dispose();
    await asking;
    page.close();
    await code.close();
    for (const spy of warnings) spy.mockRestore();
  };
  return { name, shown, problems, close };
}

/** One without a store: it asks for the list whenever it hears of something. */
function barePage(name: string, client: { subscribe: ReturnType<typeof clientOf>['subscribe']; dispose(): unknown }) {
  const problems: unknown[] = [];
  let shown: Record<string, string> = {};
  client.subscribe(CHANGES, {
    next: () =>
      void gateway.call('GET', '/credentials').then(({ body }) => {
        shown = Object.fromEntries(body.credentials.map((row: Record<string, string>) => [row.id, row.description]));
      }),
    error: (error: unknown) => void problems.push(error),
    complete: () => void problems.push('complete'),
  });
  return { name, shown: () => shown, problems, close: () => client.dispose() };
}

async function showing(expected: Record<string, string>): Promise<void> {
  for (const page of pages) await eventually(() => expect(page.shown(), page.name).toMatchObject(expected), SLOWLY);
}

async function restartAfter(signal: 'SIGTERM' | 'SIGKILL', code: number | null): Promise<void> {
  // What comes after the last restart only has to serve: one process is enough.
  const settings = { ...portsOf(gateway), WORKERS: signal === 'SIGKILL' ? '1' : '2' };
  expect(await gateway.kill(signal)).toBe(code);
  gateway = await gateway.restart(settings);
}

async function upgrade(): Promise<void> {
  process.kill(gateway.pid, 'SIGHUP');
  await eventually(() => expect(gateway.stderr.join('\n')).toContain('upgrade: the new processes serve'), SLOWLY);
}

test.each<[string, () => Promise<void>]>([
  ['an upgrade', upgrade],
  ['a planned stop and a restart', () => restartAfter('SIGTERM', 0)],
  ['a kill and a restart', () => restartAfter('SIGKILL', null)],
])(
  'through %s, clients come back and show what happened while they were away',
  { timeout: 180_000 },
  async (_, away) => {
    const { id } = (await gateway.call('POST', '/credentials', { description: 'before' })).body;
    await showing({ [id]: 'before' });
    cut.clear();
    mayComeBack = new Promise((resolve) => {
      comeBack = resolve;
    });
    await away();
    await eventually(() => expect([...cut].sort()).toEqual(pages.map(({ name }) => name).sort()), SLOWLY);
    const another = (await gateway.call('POST', '/credentials', { description: 'made meanwhile' })).body;
    await gateway.call('PATCH', `/credentials/${id}`, { description: 'changed meanwhile' });
    comeBack();
    await showing({ [id]: 'changed meanwhile', [another.id]: 'made meanwhile' });
    // And they hear of what happens from now on.
    await gateway.call('PATCH', `/credentials/${id}`, { description: 'after' });
    await showing({ [id]: 'after' });
    for (const { name, problems } of pages) expect(problems, name).toEqual([]);
  },
);
