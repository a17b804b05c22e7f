// Requests as existing clients write them: each call of the Go, Python, Ruby and TypeScript clients of the original service, with the
// fewest members and with all, in the dialect for such clients. The answers have what the clients' types read.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../support/shortened.ts';
import { type ClientName, clientNames, clients, type Members } from './calls/clients.ts';
import { edgeKinds, moduleOwners } from './calls/edges.ts';
import { kinds } from './calls/kinds.ts';
import { readKinds } from './calls/others.ts';
import { beginRound, placeIn, runKind, runModule } from './calls/round.ts';
import { type ClientWorld, makeClientWorld } from './calls/world.ts';

let world: ClientWorld;
beforeAll(async () => {
  world = await makeClientWorld();
});
afterAll(() => world?.close());

/**
 * Whose requests are sent: those of one client, in `npm test`, which takes them in turn. Each writes all bodies by the same few rules.
 * That for TypeScript makes its calls itself there, see whole-client.test.ts.
 */
function takenOf<T extends { of?: ClientName[] }>(all: T[]): (T & { of: ClientName[] })[] {
  return all.map((one, index) => {
    const { of = clientNames } = one;
    const others = of.filter((name) => name !== 'typescript');
    return { ...one, of: isLong || others.length === 0 ? of : others.slice(index % others.length).slice(0, 1) };
  });
}

/**
 * What has modules: none in `npm test`. An edge or a route that is made with all of them shows their bodies and answers there, and
 * whole-client.test.ts replaces, reads and removes each.
 */
const owners = isLong ? moduleOwners : [];

describe('objects are made, read, listed, changed and deleted', () => {
  const all = takenOf([...kinds, ...edgeKinds]).map((kind) => [kind.path, kind.of, kind] as const);
  test.each(all)('%s by %s', async (_, __, kind) => {
    expect(await runKind(world, kind)).toEqual([]);
  });
});

describe.each(owners.map((owner) => [owner.path, owner] as const))('modules of %s', (_, owner) => {
  let ids: Members;
  beforeAll(async () => {
    ids = await placeIn(world, owner.within);
  });

  const all = takenOf(owner.modules).map((module) => [module.name, module.of, module] as const);
  test.each(all)('%s by %s is replaced, read, written back and removed', async (_, __, module) => {
    expect(await runModule(world, owner, ids, module)).toEqual([]);
  });
});

describe('what agents and visitors leave is read, told and ended', () => {
  test.each(readKinds.map((kind) => [kind.path, kind] as const))('%s', async (_, kind) => {
    const { path, list, one, shape, queries = [], commands = [], isDeleted } = kind;
    const { ask, faults } = beginRound(world);
    const id = world.things[one] ?? '';
    const own = `${path}/${id}`;
    const page = { status: 200, shape: `uri next_page_uri? ${list}* { ${shape} }` };
    await ask(clientNames, 'GET', own, { status: 200, shape });
    for (const client of ['go', 'typescript'] as const)
      for (const paging of [{}, { limit: 1 }, { before: id }])
        await ask([client], 'GET', `${path}?${clients[client].page(paging)}`, page);
    for (const query of queries) {
      const found = await ask(['python'], 'GET', `${path}?${await world.filled(query)}`, page);
      if (found) expect(found[list].map((it: { id: string }) => it.id)).toEqual([id]);
    }
    for (const command of commands)
      for (const client of clientNames) {
        const body = clients[client].command({ id }, command === 'update');
        await ask([client], 'POST', `${own}/${command}`, { status: 204 }, body);
      }
    if (isDeleted) await ask(clientNames, 'DELETE', own, { status: 204 });
    expect(faults).toEqual([]);
  });
});
