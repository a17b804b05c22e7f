// Generated over the mutations of the schema: what members and bot users may not do is what is documented, and no more.

import { getNamedType, isInputObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Owner, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { isLong, shortened } from '../support/shortened.ts';
import { argumentsOf, changed, type Field, mutations, placesOf, subjectOf } from './operations.ts';
import { documentOf } from './requests.ts';
import { create, creation, fill, type Holder } from './sample-resources.ts';
import {
  leaveAgent,
  leaveBrowserSession,
  leaveBulkJob,
  leaveCaptured,
  leaveDeadLetters,
  leaveVisitor,
} from './sample-rows.ts';

/** Users and bot users are the admins' business. */
const adminsOnly =
  /^((create|update|delete|deactivate)(User|BotUser|BotUserRights|AlertRule|AlertChannel|AlertSilence|AccountIpRestriction)|createSignInLink|removeSecondFactor|removePasskeys|changeAcmeAccountKey|replaceAcmeAccount|endCertificateWaits|acknowledgeAlert|testAlertChannel|endSharedSignInCallback)$/;
/** What others hold is, too. */
const ofHolder =
  /^((update|delete)(Credential|ApiKey|ProvisioningKey)|(rotate|revoke|end|finish)(Credential|ProvisioningKey|ProvisionedCredentials|Rotation))$/;
/** So are their agents, and what they have captured: see tunnel-sessions.test.ts, agents.test.ts, roles.test.ts and body-right.test.ts of captures. */
const ofOthers =
  /^((restart|stop|update)TunnelSession|(update|delete)Agent|(start|stop|clear)TrafficCapture|replayRequest)$/;

const isForAdmins = ({ name }: Field) => [adminsOnly, ofHolder, ofOthers].some((names) => names.test(name));

/** A password, a passkey or a link is what these need, and no role. */
const signingIn =
  /^(signIn|beginSingleSignOn|completeSingleSignOn|redeemSignInLink|changePassword|(begin|confirm|disable)SecondFactor|replaceRecoveryCodes|(begin|add|remove)Passkey|(begin|complete)PasskeySignIn|exchangeProvisioningKey)$/;

/** What this gateway does for nobody: it has no certificate authority. */
const switchedOff = /^((retry|revoke)Certificate|changeAcmeAccountKey|replaceAcmeAccount|endCertificateWaits)$/;

/** With these arguments: nobody is commanded, nothing waits, only sources of traffic events have what can be changed, what is to be set is so, what is to be ended or taken away is not there. */
const doesNothing =
  /^(commandAgents|updateEventSource|retryEventDeadLetters|endProvisionedCredentials|finishRotation|signOut|signOutEverywhere|remove(SecondFactor|Passkeys)|replace(HttpsEdge|TlsEdge)MutualTls|replace(HttpsEdgeRoute|TcpEdge|TlsEdge)Backend|replaceHttpsEdgeRouteCircuitBreaker|delete(HttpsEdgeRoute|TlsEdge|TcpEdge)TrafficPolicy|deleteReservedDomainCertificate)$/;

/** What an update changes, by the first of these members that its input has. */
const changes: Record<string, unknown> = {
  description: 'changed',
  note: 'changed',
  name: 'changed',
  mayReadBodies: true,
  enforced: false,
  reason: 'changed',
  role: 'admin',
};

function withChange(field: Field, values: Record<string, unknown>): Record<string, unknown> {
  const input = field.args.find(({ name }) => name === 'input');
  const members = input && getNamedType(input.type);
  if (!/^update[A-Z]/.test(field.name) || !isInputObjectType(members)) return values;
  const member = Object.keys(changes).find((name) => name in members.getFields());
  return member === undefined ? values : changed(values, ['input', member], changes[member]);
}

/** What deletes comes last, and deletes something of its own. */
const inOrder = mutations
  .filter(({ name }) => !signingIn.test(name))
  .sort((a, b) => Number(a.name.startsWith('delete')) - Number(b.name.startsWith('delete')));
/** What an operation is about whose name does not begin with it. */
const aboutOf = (field: Field) =>
  ({ endProvisionedCredentials: 'provisioningKey', finishRotation: 'credential' })[field.name] ?? subjectOf(field);
const deletion = (kind: string) => creation(kind).replace('create', 'delete');

let gateway: TestGateway;
/** Whose account it is. */
let holder: Holder;
beforeAll(async () => {
  gateway = await sharedGateway();
});

// The rights of a bot user are those of a member.
const callers = shortened(
  [
    { who: 'a member', options: { role: 'MEMBER' } as const },
    { who: 'an admin', options: { role: 'ADMIN' } as const },
    { who: 'a bot user', options: { kind: 'BOT' } as const },
  ],
  2,
);

describe.each(callers)('$who', ({ who, options }) => {
  let caller: Owner;
  const mayAll = who === 'an admin';
  beforeAll(async () => {
    // What one caller has changed is no change for the next, unless they try different things.
    if (isLong || !holder) holder = await fill(gateway, await gateway.newAccount());
    caller = await holder.account.addOwner(options);
  });

  /** Arguments that are right in every way, so that nothing but a role can be in the way. */
  async function rightArguments(field: Field, heldBy?: Owner): Promise<object> {
    const values = withChange(field, argumentsOf(field, holder));
    if (field.name === 'replayRequest') return { ...values, id: leaveCaptured(gateway, holder) };
    if (field.name === 'deleteAgent') return { ...values, id: await leaveAgent(gateway, holder.account) };
    if (field.name === 'deleteAppUser' || field.name === 'deleteAppSession') {
      const left = await leaveVisitor(gateway, holder.account, holder.ids.servedEndpoint ?? '');
      return { ...values, id: field.name === 'deleteAppUser' ? left.appUser : left.appSession };
    }
    if (field.name === 'endSharedSignInCallback') {
      const data = { accountId: holder.account.accountId, issuer: 'github' };
      await gateway.app.prisma.sharedCallback.createMany({ data, skipDuplicates: true });
      return { issuer: data.issuer };
    }
    if (field.name === 'endBrowserSession') return { ...values, id: await leaveBrowserSession(gateway, caller) };
    if (field.name === 'cancelBulkJob') return { ...values, id: await leaveBulkJob(gateway, caller, 'RUNNING') };
    if (field.name === 'undoBulkJob') return { ...values, id: await leaveBulkJob(gateway, caller) };
    if (field.name === 'startBulkJob') return changed(values, ['input', 'action'], 'DELETE');
    const kind = aboutOf(field);
    if (!kind)
      return field.name === 'createEventSource' ? changed(values, ['input', 'type'], 'domain_updated.v0') : values;
    if (heldBy) return { ...values, id: await create(kind, holder, { ownerId: heldBy.ownerId }) };
    if (kind === 'eventDeadLetter' && 'id' in values)
      return { ...values, id: await leaveDeadLetters(gateway, holder.account) };
    if (field.name === deletion(kind) && 'id' in values) return { ...values, id: await create(kind, holder) };
    return values;
  }

  const send = (field: Field, values: object) => caller.graphql(documentOf(field, values), values);
  const run = async (field: Field, values: object) => (await send(field, values)).body;
  const refused = { errors: [{ extensions: { code: 'FORBIDDEN', status: 403 } }] };

  // What a member may, an admin may, too: `npm test` asks for what a member may not.
  const tried = mayAll && !isLong ? inOrder.filter(isForAdmins) : inOrder;

  test.each(tried)('$name: only what is documented needs an admin', async (field) => {
    const isRefused = !mayAll && isForAdmins(field);
    const { body, headers } = await send(field, await rightArguments(field));
    if (isRefused) expect(body).toMatchObject(refused);
    else if (switchedOff.test(field.name))
      expect(body).toMatchObject({ errors: [{ extensions: { code: 'CONFLICT' } }] });
    else {
      expect(body.errors).toBeUndefined();
      const where = { operationId: String(headers['service-operation-id']) };
      const lines = await gateway.app.prisma.auditEntry.count({ where });
      expect(lines > 0, 'has a line in the audit trail').toBe(!doesNothing.test(field.name));
    }
  });

  test.each(inOrder.filter(({ name }) => ofHolder.test(name)))('$name: its own it may', async (field) => {
    expect((await run(field, await rightArguments(field, caller))).errors).toBeUndefined();
  });

  // Jobs name the new owner of old things, which only admins may: see jobs.test.ts.
  const naming = inOrder.filter(
    (field) => field.name !== 'startBulkJob' && placesOf(field).some(({ path }) => path.at(-1) === 'ownerId'),
  );

  test.each(naming)('$name: only admins name another owner, anyone names itself', async (field) => {
    const path = ['input', 'ownerId'];
    const values = await rightArguments(field);
    const others = [holder.account.ownerId, await create('user', holder), await create('botUser', holder)];
    for (const other of others) {
      const body = await run(field, changed({ ...values }, path, other));
      if (mayAll) expect(body.errors).toBeUndefined();
      else expect(body).toMatchObject(refused);
    }
    expect((await run(field, changed({ ...values }, path, caller.ownerId))).errors).toBeUndefined();
  });

  test('the owner of a new thing can be named where it is documented', () => {
    expect(naming.map(({ name }) => name).sort()).toEqual([
      'createApiKey',
      'createCredential',
      'createProvisioningKey',
    ]);
  });
});
