// The original service's own API client for TypeScript, as it is published, with each call that it has, against a gateway that accepts
// its version header. What it is given is in the tables beside this file.

import { Ngrok } from '@ngrok/ngrok-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { clientNames, known, type Members } from './calls/clients.ts';
import { edgeKinds, moduleOwners } from './calls/edges.ts';
import { type Kind, kinds } from './calls/kinds.ts';
import { readKinds } from './calls/others.ts';
import { placeIn } from './calls/round.ts';
import { type ClientWorld, makeClientWorld } from './calls/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a call answers, which assertions look into.
type Json = any;
type Service = Record<string, (...given: unknown[]) => Promise<Json>>;

let world: ClientWorld;
let services: Map<string, Service>;
const called = new Set<string>();

beforeAll(async () => {
  world = await makeClientWorld(await startTestGateway({ VERSION_HEADER_ALIASES: 'Other-Version, Ngrok-Version' }));
  services = servicesOf(new Ngrok({ apiToken: world.account.key, baseUrl: world.gateway.api }));
});
afterAll(() => world?.close());

/** All services of the client by name, those in groups too. */
function servicesOf(client: object): Map<string, Service> {
  const groups = ['backends', 'edges', 'edgeModules'];
  const all = Object.entries(client).flatMap(([name, value]) =>
    groups.includes(name) ? Object.entries<Service>(value) : [[name, value as Service] as const],
  );
  return new Map(all.filter(([, value]) => typeof value === 'object' && 'httpClient' in value));
}

const callsOf = (service: object) =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(service)).filter((name) => !/^_|^constructor$/.test(name));

/** Makes a call and notes that it was made. @param name as `apiKeys.create`. */
async function call(name: string, ...given: unknown[]): Promise<Json> {
  const [service = '', method = ''] = name.split('.');
  called.add(name);
  return services.get(service)?.[method]?.(...given);
}

/** Makes a call whose answer has no body, which the client takes for JSON that ends too early. */
async function command(name: string, ...given: unknown[]): Promise<void> {
  await expect(call(name, ...given), name).rejects.toThrow(SyntaxError);
}

async function isNotFound(name: string, given: unknown, text = /./): Promise<void> {
  await expect(call(name, given), name).rejects.toMatchObject({ statusCode: 404, msg: expect.stringMatching(text) });
}

const camel = (name: string) => name.replace(/_\w/g, (letters) => letters.slice(1).toUpperCase());
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Members as this client's types name them. It renames what is in maps, too. */
function camelCased(value: unknown): Json {
  if (Array.isArray(value)) return value.map(camelCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), camelCased(member)]));
}

const isKnown = ({ of = clientNames }: Pick<Kind, 'of'>) => of.includes('typescript');

/** How the client calls the service of a path. */
function serviceOf(path: string): string {
  const [, first = '', second = '', third] = camel(path).split('/');
  if (first === 'backends') return `${second}Backends`;
  if (first === 'edges') return `edges${capital(second)}${third ? 'Routes' : ''}`;
  return third ? 'eventSources' : first;
}

describe('objects are made, read, listed, changed and deleted', () => {
  // Weights are by ids, and the client changes the letters of such names.
  const all = [...kinds, ...edgeKinds].filter((kind) => isKnown(kind) && kind.path !== '/backends/weighted');
  test.each(all.map((kind) => [kind.path, kind] as const))('%s', async (path, kind) => {
    const { key = 'id', create, update, within, parts = [] } = kind;
    const service = serviceOf(path);
    const place = camelCased(await placeIn(world, within));
    const sample = async (members: Members) => camelCased(await world.filled(members));

    const given = known(create, 'typescript', { ...create.needs, ...create.given?.[0] });
    const { [key]: id } = await call(`${service}.create`, { ...place, ...(await sample(given)) });
    const one = within ? { ...place, [key]: id } : id;
    expect(await call(`${service}.get`, one)).toMatchObject({ [key]: id });
    if (kind.list) {
      const listed = await (within ? call(`${service}.list`, place) : call(`${service}.list`, undefined, '2'));
      expect(JSON.stringify(listed)).toContain(id);
    }
    const change = await sample(known(update, 'typescript', update.given?.[0] ?? {}));
    expect(await call(`${service}.update`, { ...place, [key]: id, ...change })).toMatchObject({ [key]: id });
    for (const part of parts) await command(`${service}.delete${capital(camel(part))}`, id);
    await command(`${service}.delete`, one);
    await isNotFound(`${service}.get`, one);
  });

  test('/backends/weighted, made by another client', async () => {
    const id = await world.make('/backends/weighted', { backends: { [world.things.backend ?? '']: 1 } });
    await expect(call('weightedBackends.create', { backends: {} })).rejects.toMatchObject({ statusCode: 400 });
    expect(await call('weightedBackends.get', id)).toMatchObject({ id });
    expect(await call('weightedBackends.list')).toMatchObject([{ id }]);
    expect(await call('weightedBackends.update', { id, backends: {}, metadata: 'a' })).toMatchObject({ metadata: 'a' });
    await command('weightedBackends.delete', id);
  });

  test('a list of several pages is read whole', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => world.make('/ip_policies')));
    const listed = await call('ipPolicies.list', undefined, '1');
    expect(listed.map((it: Members) => it.id)).toEqual(expect.arrayContaining(ids));
  });
});

describe('modules are replaced, read and removed', () => {
  const all = moduleOwners.flatMap((owner) =>
    // Those of policies are in no group of the client.
    owner.modules
      .filter((it) => isKnown(it) && it.name !== 'policy')
      .map((it) => [owner.path, it.name, owner, it] as const),
  );
  test.each(all)('%s/%s', async (path, name, owner, { needs, given: [more] }) => {
    const [, , kind = ''] = path.split('/');
    const isOfRoute = path.includes('routes');
    const own = name === 'oauth' ? 'OAuth' : capital(camel(name));
    const service = `${isOfRoute ? 'edgeRoute' : `${kind}Edge`}${own}Module`;
    const ids = camelCased(await placeIn(world, owner.within));
    const place = isOfRoute ? ids : ids.id;
    const module = camelCased(await world.filled({ ...needs, ...more }));
    expect(await call(`${service}.replace`, { ...ids, module })).toMatchObject({ enabled: module.enabled });
    expect(await call(`${service}.get`, place)).toMatchObject({ enabled: module.enabled });
    await command(`${service}.delete`, place);
    await isNotFound(`${service}.get`, place);
  });

  test('SAML modules, of which there are none here', async () => {
    const ids = camelCased(await placeIn(world, moduleOwners.at(-1)?.within));
    for (const name of ['replace', 'get', 'delete'])
      await isNotFound(`edgeRouteSamlModule.${name}`, { ...ids, module: {} }, /SAML/);
  });
});

test.each(readKinds.map((kind) => [kind.path, kind] as const))('%s is read, told and ended', async (path, kind) => {
  const { one, commands = [], isDeleted } = kind;
  const service = camel(path.slice(1).replace('app/', 'application_'));
  const id = world.things[one];
  expect((await call(`${service}.list`)).map((it: Members) => it.id)).toContain(id);
  expect(await call(`${service}.get`, id)).toMatchObject({ id });
  for (const name of commands) await command(`${service}.${name}`, name === 'update' ? { id } : id);
  if (isDeleted) await command(`${service}.delete`, id);
});

test.each([
  'abuseReports',
  'sshCertificateAuthorities',
  'sshCredentials',
  'sshHostCertificates',
  'sshUserCertificates',
])('%s is told that there are none here', async (service) => {
  for (const name of callsOf(services.get(service) ?? {}))
    await isNotFound(
      `${service}.${name}`,
      name === 'create' || name === 'update' ? { id: 'x_1' } : 'x_1',
      /do not exist/,
    );
});

test('each call of the client was made', () => {
  const all = [...services].flatMap(([name, service]) => callsOf(service).map((method) => `${name}.${method}`));
  expect(all.length).toBeGreaterThan(150);
  expect(all.filter((name) => !called.has(name))).toEqual([]);
});
