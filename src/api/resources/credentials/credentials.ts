// Tunnel credentials: the authtokens that agents present to open a session (specification sections 2.1 and 4.1).

import { newSecret } from '../../../store/ids.ts';
import { AclError, parseAclRule } from '../../../tunnel/control/acl.ts';
import { builder } from '../../builder/builder.ts';
import { showOnce } from '../../builder/payloads.ts';
import { Node } from '../../collections/collection.ts';
import { id, labels, NOTED_MEMBERS, texts } from '../../collections/members.ts';
import { KEY_NOTES, rowFields } from '../../collections/notes.ts';
import { requiredReference } from '../../collections/references.ts';
import { named, related } from '../../collections/related.ts';
import { resource } from '../../collections/resource.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { checkHolder, chooseOwner, Owner } from '../accounts/owner.ts';
import { sessionCounts } from '../tunnels/live-tunnels.ts';

export const RULES_MAX = 500;

const ROW = { prefix: 'cr', path: '/credentials' };

export const Credential = builder.prismaObject('Credential', {
  description: 'An authtoken with which agents open tunnel sessions, and what it may bind.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, { ...ROW, notes: KEY_NOTES }),
    acl: t.exposeStringList('acl', {
      description: 'What it may bind, as rules (`bind:…`); an empty list is no restriction.',
    }),
    ownerId: t.exposeID('ownerId', { description: 'The id of the user or bot user who holds it.' }),
    owner: t.field({
      type: Owner,
      description: 'The user or bot user who holds it.',
      select: { ownerId: true },
      resolve: requiredReference(({ ownerId }) => ownerId),
    }),
    openSessions: t.int({
      description: 'How many agents are connected with it now.',
      resolve: async ({ id }, _, context) =>
        (await sessionCounts(context)).find(({ credentialId }) => credentialId === id)?.sessions ?? 0,
    }),
    tunnelSessions: related(t, {
      ...{ kind: 'tunnelSession', on: named('credential_id'), member: 'credential.id' },
      description: 'The sessions of the agents that are connected with it now.',
    }),
    agents: related(t, {
      ...{ kind: 'agent', on: named('credential_id'), member: 'credential.id' },
      description: 'The agents that connected with it last, those that are offline among them.',
    }),
  }),
});

const aclHelp =
  'Rules that limit what the token may bind: `bind:example.com`, `bind:*.example.com`, `bind:1.example.com:20000`, ' +
  '`bind:key=value` (key or value may be `*`), or `*` for everything. An empty list is no restriction.';

export const credentials = resource({
  kind: 'credential',
  model: 'Credential',
  ...ROW,
  ref: Credential,
  notes: KEY_NOTES,
  shows: 'id uri createdAt description metadata token acl ownerId',
  members: {
    ...NOTED_MEMBERS,
    acl: texts('acl'),
    labels: labels('labels'),
    owner_id: id('ownerId', { isOrdered: true }),
  },
  audit: { name: 'tunnel_credential', subject: 'A tunnel credential' },
  search: {
    ...{ rank: 40, table: 'credential', title: 't.description', detail: `array_to_string(t.acl, ', ')` },
    texts: [...NOTE_COLUMNS, `array_to_string(t.acl, ', ')`],
  },
  create: {
    secrets: { token: 'The authtoken. Only the answer to `createCredential` has it; nobody can read it afterwards.' },
    description: 'Creates a credential. Its `token` is shown here and never again.',
    note: 'Every member may be left out.',
    input: (t) => ({
      acl: t.stringList({ description: aclHelp }),
      ownerId: t.id({ description: 'Who is to hold it; you, when left out. Only admins may name another.' }),
    }),
    async write(input, context, id) {
      const token = newSecret(id);
      const chosen = await checkAll({
        acl: () => checkAcl(input.acl ?? []),
        ownerId: () => chooseOwner(context, input.ownerId),
      });
      const columns = { ...chosen, digest: context.app.keys.digest(token) };
      return async (save) => showOnce(await save(columns), { token });
    },
  },
  update: {
    description: 'Changes a credential. Sessions that are open follow its new ACL at once.',
    input: (t) => ({ acl: t.stringList({ description: `${aclHelp} Replaces the whole list.` }) }),
    async write(input, context, id) {
      const acl = input.acl ? checkAcl(input.acl) : undefined;
      await checkCredentialHeld(context, id);
      return { acl };
    },
  },
  remove: {
    description:
      'Deletes a credential: its authtoken is refused from now on, and sessions it opened end. Answers with its id.',
    check: checkCredentialHeld,
  },
});

export const { routes } = credentials;

/**
 * To be called before a credential is changed, which fails when there is none.
 * @throws {ApiError} when there is no such credential, or it is not the caller's to change. Admins may change all: nothing is read.
 */
export async function checkCredentialHeld(context: Context, id: string): Promise<void> {
  if (context.caller.isAdmin) return;
  const where = { id, accountId: context.accountId };
  checkHolder(
    context,
    requireFound(await context.db.credential.findUnique({ where, select: { ownerId: true } }), 'credential'),
  );
}

/** @throws {ApiError} naming the rules that are not of the grammar. */
export function checkAcl(rules: string[]): string[] {
  if (rules.length > RULES_MAX) throw new ApiError('tooManyAclRules', { member: 'acl', max: RULES_MAX });
  return checkEach(rules, (rule, index) => {
    try {
      parseAclRule(rule);
      return rule;
    } catch (error) {
      if (!(error instanceof AclError)) throw error;
      throw new ApiError('badAclRule', { member: `acl[${index}]`, reason: error.message });
    }
  });
}
