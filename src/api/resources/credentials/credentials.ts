// Tunnel credentials: the authtokens that agents present to open a session (specification sections 2.1 and 4.1).

import { newId, newSecret } from '../../../store/ids.ts';
import { AclError, parseAclRule } from '../../../tunnel/control/acl.ts';
import { builder, Ref } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { id, labels, NOTED_MEMBERS, texts } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import { checkHolder, chooseOwner, Owner } from '../accounts/owner.ts';
import { credentialSessions, sessionCounts } from '../tunnels/live-tunnels.ts';

export const RULES_MAX = 500;

export const Credential = builder.prismaObject('Credential', {
  description: 'An authtoken with which agents open tunnel sessions, and what it may bind.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `cr_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/credentials/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'Who or what uses it, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    token: t.string({
      nullable: true,
      description: 'The authtoken. Only the answer to `createCredential` has it; nobody can read it afterwards.',
      resolve: (row) => ('token' in row ? String(row.token) : null),
    }),
    acl: t.exposeStringList('acl', {
      description: 'What it may bind, as rules (`bind:…`); an empty list is no restriction.',
    }),
    ownerId: t.exposeID('ownerId', { description: 'The id of the user or bot user who holds it.' }),
    owner: t.relation('owner', { type: Owner, description: 'The user or bot user who holds it.' }),
    openSessions: t.int({
      description: 'How many agents are connected with it now.',
      resolve: async ({ id }, _, context) =>
        (await sessionCounts(context)).find(({ credentialId }) => credentialId === id)?.sessions ?? 0,
    }),
    tunnelSessions: t.field({
      type: [Ref],
      description: 'The sessions of the agents that are connected with it now, the newest first.',
      resolve: async ({ id: own }, _, context) =>
        (await credentialSessions(context))
          .filter(({ credentialId }) => credentialId === own)
          .map(({ id }) => ({ id, path: `/tunnel_sessions/${id}` })),
    }),
  }),
});

export const credentials = collection({
  kind: 'credential',
  prefix: 'cr',
  path: '/credentials',
  single: 'credential',
  plural: 'credentials',
  typeName: 'Credential',
  ref: Credential,
  members: {
    ...NOTED_MEMBERS,
    acl: texts('acl'),
    labels: labels('labels'),
    owner_id: id('ownerId', { isOrdered: true }),
  },
  table: (db) => db.credential,
  audit: { name: 'tunnel_credential', subject: 'A tunnel credential' },
  search: {
    ...{ rank: 40, table: 'credential', title: 't.description', detail: `array_to_string(t.acl, ', ')` },
    texts: [...NOTE_COLUMNS, `array_to_string(t.acl, ', ')`],
  },
});

const aclHelp =
  'Rules that limit what the token may bind: `bind:example.com`, `bind:*.example.com`, `bind:1.example.com:20000`, ' +
  '`bind:key=value` (key or value may be `*`), or `*` for everything. An empty list is no restriction.';

const CreateCredentialInput = builder.inputType('CreateCredentialInput', {
  description: 'A new credential. Every member may be left out.',
  fields: (t) => ({
    description: t.string({ description: 'Who or what will use it, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    acl: t.stringList({ description: aclHelp }),
    ownerId: t.id({ description: 'Who is to hold it; you, when left out. Only admins may name another.' }),
  }),
});

const UpdateCredentialInput = builder.inputType('UpdateCredentialInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    acl: t.stringList({ description: `${aclHelp} Replaces the whole list.` }),
  }),
});

builder.mutationField('createCredential', (t) =>
  t.prismaField({
    type: Credential,
    nullable: true,
    access: { kind: 'credential' },
    description: 'Creates a credential. Its `token` is shown here and never again.',
    args: {
      input: t.arg({ type: CreateCredentialInput, required: true, description: 'The credential.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { accountId, app } = context;
      const id = newId(credentials.prefix);
      const token = newSecret(id);
      const data = {
        ...checkTexts(input, 'key'),
        id,
        accountId,
        acl: checkAcl(input.acl ?? []),
        digest: app.keys.digest(token),
        ownerId: await chooseOwner(context, input.ownerId),
      };
      const credential = await context.create(credentials, (db) => db.credential.create({ ...query, data }));
      return { ...credential, token };
    },
  }),
);

builder.mutationField('updateCredential', (t) =>
  t.prismaField({
    type: Credential,
    nullable: true,
    access: { kind: 'credential' },
    description: 'Changes a credential. Sessions that are open follow its new ACL at once.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the credential.' }),
      input: t.arg({ type: UpdateCredentialInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _, { id, input }, context) => {
      const data = { ...checkTexts(input, 'key'), acl: input.acl ? checkAcl(input.acl) : undefined };
      await checkCredentialHeld(context, id);
      const where = { id, accountId: context.accountId };
      return context.update(credentials, id, (db) => db.credential.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(credentials, 'deleteCredential', {
  description:
    'Deletes a credential: its authtoken is refused from now on, and sessions it opened end. Answers with its id.',
  check: checkCredentialHeld,
});

/** @throws {ApiError} when there is no such credential, or it is not the caller's to change. */
export async function checkCredentialHeld(context: Context, id: string): Promise<void> {
  const where = { id, accountId: context.accountId };
  checkHolder(
    context,
    requireFound(await context.db.credential.findUnique({ where, select: { ownerId: true } }), 'credential'),
  );
}

/** @throws {ApiError} naming the first rule that is not of the grammar. */
export function checkAcl(rules: string[]): string[] {
  if (rules.length > RULES_MAX) throw new ApiError('tooManyAclRules', { member: 'acl', max: RULES_MAX });
  rules.forEach((rule, index) => {
    try {
      parseAclRule(rule);
    } catch (error) {
      if (!(error instanceof AclError)) throw error;
      throw new ApiError('badAclRule', { member: `acl[${index}]`, reason: error.message });
    }
  });
  return rules;
}

const selection = 'id uri createdAt description metadata token acl ownerId';

export const routes = [
  route('POST', '/credentials', 201, 'createCredential', selection),
  ...readRoutes(credentials, 'credentials', selection),
  route('PATCH', '/credentials/:id', 200, 'updateCredential', selection),
  route('DELETE', '/credentials/:id', 204, 'deleteCredential'),
];
