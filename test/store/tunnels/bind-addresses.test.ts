// When an address that is taken, shared, resumed or held can be bound.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import type { AgentRefusal, BindRequest } from '../../../src/tunnel/control/registrar.ts';
import {
  bound,
  leaveTo,
  nameRequest,
  newCredential,
  openSession,
  type TestCredential,
} from '../../support/agents/live.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let other: Account;
let credential: TestCredential;
let session: string;
beforeAll(async () => {
  gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { counting: true });
  account = await gateway.newAccount();
  other = await gateway.newAccount();
});
beforeEach(async () => {
  credential = await newCredential(account);
  session = await openSession(gateway, credential);
});
afterAll(() => gateway?.close());

let names = 0;
const newName = () => `n${++names}.tunnel.localhost`;
const bind = (request: BindRequest) => gateway.registrar.bind(request);
const refused = (name: Exclude<AgentRefusal['refused'], 'sessionEnded'>, target: string) => ({ refused: name, target });

const tcp = (sessionId: string, port: number, more: Partial<BindRequest> = {}) =>
  nameRequest(sessionId, 'tunnel.localhost', { proto: 'tcp', port, ...more });

describe('an address', () => {
  test('is free again as soon as its tunnel is closed', async () => {
    const { tunnelId, endpointId } = bound(await bind(tcp(session, 20_100)));
    const second = await openSession(gateway, await newCredential(other));
    expect(await bind(tcp(second, 20_100))).toEqual(refused('inUse', 'tunnel.localhost:20100'));
    await gateway.registrar.tunnelClosed(session, tunnelId);
    await gateway.registrar.tunnelClosed(session, tunnelId);
    expect((await account.call('GET', `/endpoints/${endpointId}`)).status).toBe(404);
    bound(await bind(tcp(second, 20_100)));
  });

  test('is shared within the account when all ask for it', async () => {
    const hostname = newName();
    const colleague = await openSession(gateway, await newCredential(account));
    const stranger = await openSession(gateway, await newCredential(other));
    const pooling = { pooling: true };
    const { tunnelId } = bound(await bind(nameRequest(session, hostname, pooling)));
    bound(await bind(nameRequest(colleague, hostname, pooling)));
    expect(await bind(nameRequest(colleague, hostname))).toEqual(refused('inUse', hostname));
    expect(await bind(nameRequest(stranger, hostname, pooling))).toEqual(refused('reservedByOther', hostname));
    await gateway.registrar.sessionClosed(colleague, 30_000);
    await gateway.registrar.tunnelClosed(session, tunnelId);
    bound(await bind(nameRequest(session, hostname)));
    expect(await bind(nameRequest(session, hostname, pooling))).toEqual(refused('inUse', hostname));
  });

  test('is resumed under its id, whatever is left of the tunnel', async () => {
    const hostname = newName();
    const taken: string[] = [];
    const stop = gateway.registrar.onSessionReplaced((id) => taken.push(id));
    const { tunnelId, endpointId } = bound(await bind(nameRequest(session, hostname)));
    const rotated = await openSession(gateway, await newCredential(account));
    expect(await bind(nameRequest(rotated, hostname))).toEqual(refused('inUse', hostname));
    expect(await bind(nameRequest(rotated, hostname, { resume: tunnelId }))).toEqual({ tunnelId, endpointId });
    expect(taken).toEqual([session]);
    stop();
    // And once more, after that one was lost too.
    await gateway.registrar.sessionClosed(rotated, 30_000);
    const third = await openSession(gateway, await newCredential(account));
    expect(await bind(nameRequest(third, hostname))).toEqual(refused('inUse', hostname));
    expect(await bind(nameRequest(third, hostname, { resume: tunnelId }))).toEqual({ tunnelId, endpointId });
    const { body } = await account.call('GET', `/tunnels/${tunnelId}`);
    expect(body.tunnel_session.id).toBe(third);
  });

  test('of another tunnel cannot be taken by resuming', async () => {
    const hostname = newName();
    bound(await bind(nameRequest(session, hostname)));
    const second = await openSession(gateway, credential);
    expect(await bind(nameRequest(second, hostname, { resume: newId('tn') }))).toEqual({
      ...refused('inUse', hostname),
      rivals: [{ sessionId: session, node: expect.objectContaining({ id: gateway.registrar.nodeId }) }],
    });
  });

  test('of a dead node is held for its credential, and then free for all', async () => {
    const [hostname, later] = [newName(), newName()];
    bound(await bind(nameRequest(session, hostname)));
    bound(await bind(nameRequest(session, later)));
    await leaveTo(gateway, session, Date.now() - 5000);
    const stranger = await openSession(gateway, await newCredential(other));
    expect(await bind(nameRequest(stranger, hostname))).toEqual(refused('reservedByOther', hostname));
    bound(await bind(nameRequest(await openSession(gateway, credential), hostname)));
    // The session that came from there is over, with all it had.
    expect(await gateway.app.prisma.tunnelSession.findUnique({ where: { id: session } })).toBeNull();
    await gateway.app.prisma.claim.update({ where: { address: `http:${later}` }, data: { heldUntil: new Date(0) } });
    bound(await bind(nameRequest(stranger, later)));
  });

  test('of a node that died long ago is free for all', async () => {
    const hostname = newName();
    bound(await bind(nameRequest(session, hostname)));
    await leaveTo(gateway, session, Date.now() - 31_000);
    bound(await bind(nameRequest(await openSession(gateway, await newCredential(other)), hostname)));
  });
});
