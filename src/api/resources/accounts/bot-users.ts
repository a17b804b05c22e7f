// Bot users: owners that are no person (specification sections 2.6 and 4.6).

import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { boolean, ID_MEMBER, text, time } from '../../collections/members.ts';
import { givesNew, givesObject, mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { route } from '../../route.ts';
import { aliasRoutes } from '../../route-aliases.ts';
import { checkBytes } from '../../text-limits.ts';
import { endCapturesOf } from './end-captures.ts';
import { Owner, ownerSearch } from './owner.ts';

const NAME_MAX_BYTES = 255;
/** The members of the specification (section 2.6). */
const selection = 'id uri name active createdAt';

const BotUser = builder.prismaObject('Owner', {
  variant: 'BotUser',
  description: 'An identity of the account that is no person: it can own API keys and credentials.',
  interfaces: [Node, Owner],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bot_…`.' }),
    name: t.exposeString('subject', {
      description: 'Its name, unique among the bot users of the account; at most 255 bytes.',
    }),
  }),
});

const botUsers = collection({
  kind: 'botUser',
  prefix: 'bot',
  path: '/bot_users',
  single: 'botUser',
  plural: 'botUsers',
  typeName: 'BotUser',
  ref: BotUser,
  members: {
    ...ID_MEMBER,
    created_at: time('createdAt'),
    name: text('subject', { isOrdered: true }),
    active: boolean('active'),
  },
  table: (db) => db.owner,
  where: () => ({ kind: 'BOT' }),
  audit: { name: 'bot_user', subject: 'A bot user', selection: `${selection} mayReadBodies` },
  conflicts: { taken: 'botNameTaken' },
  search: ownerSearch(60, 'BOT'),
});

const CreateBotUserInput = builder.inputType('CreateBotUserInput', {
  description: 'A new bot user.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Its name, unique among the bot users of the account; 1 to 255 bytes.',
    }),
    active: t.boolean({ description: 'Whether its API keys and credentials are accepted; true when left out.' }),
  }),
});

const UpdateBotUserInput = builder.inputType('UpdateBotUserInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    name: t.string({ description: 'Another name; 1 to 255 bytes.' }),
    active: t.boolean({ description: 'Whether its API keys and credentials are accepted from now on.' }),
  }),
});

const UpdateBotUserRightsInput = builder.inputType('UpdateBotUserRightsInput', {
  description: 'What a bot user may do from now on; a member left out or null stays as it is.',
  fields: (t) => ({
    mayReadBodies: t.boolean({ description: 'Whether it may read the bodies of captured requests.' }),
  }),
});

mutation('createBotUser', givesNew('botUser', 'BotUser'), (t) =>
  t.prismaField({
    type: BotUser,
    nullable: true,
    access: { kind: 'botUser', adminsOnly: 'botsAdminsOnly' },
    description: 'Creates a bot user. Only admins may.',
    args: {
      input: t.arg({ type: CreateBotUserInput, required: true, description: 'The bot user.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const subject = checkName(input.name);
      const data = {
        id: newId(botUsers.prefix),
        accountId,
        kind: 'BOT',
        role: 'MEMBER',
        subject,
        active: input.active ?? true,
      } as const;
      return context.create(botUsers, (db) => db.owner.create({ ...query, data }));
    },
  }),
);

mutation('updateBotUser', givesObject('botUser'), (t) =>
  t.prismaField({
    type: BotUser,
    nullable: true,
    access: { kind: 'botUser', adminsOnly: 'botsAdminsOnly' },
    description:
      'Changes a bot user. When it is made inactive, its API keys are refused from the next request on. Only admins may.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the bot user.' }),
      input: t.arg({ type: UpdateBotUserInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const subject = input.name == null ? undefined : checkName(input.name);
      const data = { subject, active: input.active ?? undefined };
      return context.inTransaction(async (transaction) => {
        const bot = await changeBot(transaction, query, id, data);
        if (data.active === false) await endCapturesOf(transaction, id);
        return bot;
      });
    },
  }),
);

mutation('updateBotUserRights', givesObject('botUser'), (t) =>
  t.prismaField({
    type: BotUser,
    nullable: true,
    access: { kind: 'botUser', adminsOnly: 'botsAdminsOnly' },
    description: 'Changes what a bot user may do beyond the rights that all of them have. Only admins may.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the bot user.' }),
      input: t.arg({ type: UpdateBotUserRightsInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) =>
      changeBot(context, query, id, { mayReadBodies: input.mayReadBodies ?? undefined }),
  }),
);

function changeBot(context: Context, query: object, id: string, data: Prisma.OwnerUpdateInput) {
  const where = { id, accountId: context.accountId, kind: 'BOT' } as const;
  return context.update(botUsers, id, (db) => db.owner.update({ ...query, where, data }));
}

deleteMutation(botUsers, 'deleteBotUser', { adminsOnly: 'botsAdminsOnly' });

function checkName(name: string): string {
  if (name.trim() === '') throw new ApiError('botNameMissing', { member: 'name' });
  checkBytes('name', name, NAME_MAX_BYTES, 'botNameTooLong');
  return name;
}

/** What a bot user may do is no member of it in the specification. */
const rights = 'mayReadBodies';

const botUserRoutes = [
  route('POST', '/bot_users', 201, 'createBotUser', selection),
  ...readRoutes(botUsers, 'bot_users', selection),
  route('PATCH', '/bot_users/:id', 200, 'updateBotUser', selection),
  route('DELETE', '/bot_users/:id', 204, 'deleteBotUser'),
  route('GET', '/bot_users/:id/rights', 200, 'botUser', rights, { operationId: 'botUserRights' }),
  route('PATCH', '/bot_users/:id/rights', 200, 'updateBotUserRights', rights),
];

/** Newer clients call them service users. */
const serviceUserRoutes = aliasRoutes(botUserRoutes, ['/bot_users', '/service_users'], (field) =>
  field.replace(/botUser/i, (name) => (name.startsWith('b') ? 'serviceUser' : 'ServiceUser')),
);

export const routes = [...botUserRoutes, ...serviceUserRoutes];
