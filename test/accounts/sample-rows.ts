// Rows that no mutation makes: what agents, visitors, browsers and deliveries leave behind.

import { targetOf } from '../../src/capture/stored-capture.ts';
import { type Event, writeEvent } from '../../src/events/event.ts';
import { newId } from '../../src/store/ids.ts';
import { beginAppSession, sealedPlace } from '../../src/store/visitors/app-session-rows.ts';
import { bound, nameRequest, newCredential, openSession } from '../support/agents/live.ts';
import { reportOf } from '../support/events/synthetic-report.ts';
import type { Account, Owner, TestGateway } from '../support/gateway/gateway.ts';
import { logRequestTo } from '../support/logged-requests.ts';
import { fresh } from './fresh-names.ts';

/** An account with an edge that an agent serves. */
interface Served {
  account: Account;
  ids: Record<string, string>;
}

let reports = 0;

/** Captures a request to an account's edge, for a name that nothing serves. @returns its id. */
export function leaveCaptured(gateway: TestGateway, { account, ids }: Served): string {
  const { captures } = gateway.app.nodeCaptures();
  const { accountId } = account;
  const endpointId = ids.servedEndpoint ?? '';
  const endpoint = captures.endpoint(endpointId);
  if (!endpoint) throw new Error('the edge is not served here');
  const capture = { ...targetOf(endpoint), id: newId('tcap'), ownerId: 'usr_1', bodyBytes: 0, redactHeaders: [] };
  captures.apply([capture.id], [{ ...capture, endsAt: Date.now() + 3_600_000 }]);
  const detail = captures.observe(endpoint);
  if (detail) detail.isRequestComplete = true;
  const report = reportOf(accountId, ++reports);
  const request = { ...report.request, scheme: 'http' } as const;
  captures.take({ ...report, request, tls: undefined, endpointId, observer: detail });
  captures.apply([capture.id], []);
  return captures.list(capture)[0]?.id ?? '';
}

/** Has a capture of an address on that nothing serves. @returns its id. */
export async function leaveRunning({ app }: TestGateway, { accountId, ownerId }: Account): Promise<string> {
  const id = newId('tcap');
  const name = `http:${id.slice(5).toLowerCase()}.captured.example`;
  const times = { createdAt: new Date(), endsAt: new Date(Date.now() + 3_600_000) };
  await app.prisma.trafficCapture.create({
    data: { id, accountId, ownerId, address: name, publicUrl: name.replace(':', '://'), bodyBytes: 0, ...times },
  });
  return id;
}

/** Has a request to an account's edge in the log. @returns its id. */
export async function leaveLogged(
  { app: { requestLog } }: TestGateway,
  { account: { accountId }, ids }: Served,
): Promise<string> {
  if (requestLog.own) logRequestTo(requestLog.own, { accountId, id: ids.servedEndpoint ?? '' });
  const { entries } = await requestLog.newest({ accountId }, 1);
  return entries[0]?.id ?? '';
}

/** Has a user signed in somewhere. @returns the id of the browser session. */
export async function leaveBrowserSession(
  { app: { prisma } }: Pick<TestGateway, 'app'>,
  { accountId, ownerId }: Pick<Owner, 'accountId' | 'ownerId'>,
): Promise<string> {
  const id = newId('bs');
  const at = new Date();
  const times = { createdAt: at, lastUsedAt: at, expiresAt: new Date(at.getTime() + 3_600_000) };
  const browser = { digest: id, pageDigest: id, ip: '127.0.0.1', userAgent: 'a browser of these tests' };
  await prisma.browserSession.create({ data: { id, accountId, ownerId, ...browser, ...times } });
  return id;
}

/** Has a user add a passkey. @returns its id. */
export async function leavePasskey(
  { app: { prisma } }: Pick<TestGateway, 'app'>,
  { ownerId }: Pick<Owner, 'ownerId'>,
): Promise<string> {
  const id = newId('pky');
  const ofDevice = { credentialId: id, publicKey: new Uint8Array(), counter: 0, transports: [] };
  await prisma.passkey.create({ data: { id, ownerId, name: 'a phone', ...ofDevice } });
  return id;
}

/** Has a visitor signed in at an endpoint. @returns the ids of the visitor and of the session. */
export async function leaveVisitor(
  { app }: Pick<TestGateway, 'app'>,
  { accountId }: Pick<Owner, 'accountId'>,
  endpointId: string,
): Promise<{ appUser: string; appSession: string }> {
  const subject = fresh();
  const user = { issuer: 'https://id.example.com', subject, name: 'Ann Visitor', email: `${subject}@example.com` };
  const place = {
    publicUrl: 'https://app.world.example.com',
    ip: '192.0.2.8',
    userAgent: 'Mozilla/5.0 (of these tests)',
  };
  const { id } = await beginAppSession(app, {
    ...{ accountId, endpointId, ...place, user, site: 'app.world.example.com', terms: '' },
    seal: (session) => app.keys.seal('{}', sealedPlace(session)),
    ...{ idleMs: 3_600_000, maxMs: 7_200_000 },
  });
  const { userId } = await app.prisma.appSession.findUniqueOrThrow({ where: { id }, select: { userId: true } });
  return { appUser: userId, appSession: id };
}

/** Has an agent come and go. @returns its id. */
export async function leaveAgent(gateway: TestGateway, { accountId, call }: Account): Promise<string> {
  const report = { deviceId: newId('device'), name: '', hostName: fresh(), labels: {}, refusals: {} };
  const sessionId = await openSession(gateway, await newCredential({ accountId, call }), { agent: report });
  await gateway.registrar.sessionClosed(sessionId, 0);
  const where = { accountId, hostName: report.hostName };
  return (await gateway.app.prisma.agent.findFirstOrThrow({ where, select: { id: true } })).id;
}

/** Has an agent come and go. @returns the id of the address that it leaves offline. */
export async function leaveOffline(gateway: TestGateway, { accountId, call }: Account, zone: string): Promise<string> {
  const sessionId = await openSession(gateway, await newCredential({ accountId, call }));
  const hostname = `${fresh()}.${zone}`;
  bound(await gateway.registrar.bind(nameRequest(sessionId, hostname, { proto: 'https' })));
  await gateway.registrar.sessionClosed(sessionId, 0);
  const where = { accountId, publicUrl: `https://${hostname}` };
  return (await gateway.app.prisma.offlineEndpoint.findFirstOrThrow({ where, select: { id: true } })).id;
}

const refused: Event = {
  ...{ id: newId('ev'), type: 'user_created.v0', at: Date.now() },
  ...{ accountId: newId('ac'), principal: null, object: {} },
};

/** Leaves a dead letter at each event destination of an account, as targets do that refuse an event. @returns the oldest's. */
export async function leaveDeadLetters(gateway: TestGateway, { accountId }: Account): Promise<string> {
  const { prisma } = gateway.app;
  const destinations = await prisma.eventDestination.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  const letters = destinations.map((destination) => ({
    ...{ id: newId('edl'), accountId, destinationId: destination.id },
    ...{ eventId: refused.id, eventType: refused.type, event: writeEvent(refused) },
    ...{ errorCode: 'HTTP 400', errorMessage: fresh() },
  }));
  await prisma.eventDeadLetter.createMany({ data: letters });
  return letters[0]?.id ?? '';
}

/** Leaves an alert whose rule is gone, which nobody evaluates, and of which a channel was told. @returns the ids of both. */
export async function leaveAlert(
  { app: { prisma, changes } }: TestGateway,
  { accountId, graphql }: Account,
  channelId: string,
): Promise<{ alert: string; alertNotification: string }> {
  const id = newId('al');
  const at = new Date();
  const kind = { condition: 'ENDPOINT_OFFLINE', severity: 'INFO' } as const;
  const data = { id, accountId, name: fresh(), ...kind, since: at, firedAt: at, subjectCount: 1 };
  await changes.transaction(prisma, async (db, announce) => {
    await db.alert.create({ data });
    announce({ kind: 'alert', action: 'CREATED', id, accountId });
  });
  await graphql('mutation ($id: ID!) { acknowledgeAlert(id: $id) { alert { id } } }', { id }); // So that it has a history.
  const told = { id: newId('aln'), accountId, alertId: id, channelId, createdAt: at, sentAt: at };
  await prisma.alertNotification.create({ data: { ...told, kind: 'FIRED', body: {} } });
  return { alert: id, alertNotification: told.id };
}

/** Leaves a job that its owner may undo, or cancel while it is `RUNNING`: no node takes it up. @returns its id. */
export async function leaveBulkJob(
  { app: { prisma, changes, nodes } }: TestGateway,
  { accountId, ownerId }: Pick<Owner, 'accountId' | 'ownerId'>,
  state: 'RUNNING' | 'SUCCEEDED' = 'SUCCEEDED',
): Promise<string> {
  const id = newId('bj');
  const what = { list: 'credentials', kind: 'credential', action: 'CHANGE_OWNER', ownerId } as const;
  const by = { actorId: ownerId, actorSubject: fresh(), operationId: newId('op') };
  const at = new Date();
  const held = { nodeId: nodes.ownId, leaseUntil: new Date(at.getTime() + 3_600_000) };
  await prisma.bulkJob.create({
    data: {
      ...{ id, accountId, ...what, ...by, state, createdAt: at, startedAt: at, total: 1, done: 1 },
      ...(state === 'RUNNING' ? held : { finishedAt: at }),
    },
  });
  await changes.publishHints([{ kind: 'bulkJob', action: 'CREATED', id, accountId }]);
  return id;
}
