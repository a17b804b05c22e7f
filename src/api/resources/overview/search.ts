// Searching over everything that an account has.

import { builder } from '../../builder/builder.ts';
import { ONCE_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { Node } from '../../collections/nodes.ts';
import { reference } from '../../collections/references.ts';
import { searchWords } from '../../collections/search-words.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { LOOKED_AT_MAX, type SearchHit, search } from './search-query.ts';

const HITS_MAX = 50;

const Hit = builder.objectRef<SearchHit>('SearchHit').implement({
  description: 'Something that was found by a piece of its id, its names and addresses, or what is noted of it.',
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'What it is, as its look-up is called: `credential`.' }),
    objectId: t.exposeID('id', { description: 'The id of it.' }),
    object: t.field({
      type: Node,
      nullable: true,
      description: 'The object; null when it is gone by now.',
      resolve: reference(({ id }) => id),
    }),
    title: t.exposeString('title', {
      description: 'What it is known by: an address, a name, its description, its id.',
    }),
    detail: t.exposeString('detail', { description: 'What else tells it from others; at most 200 characters.' }),
  }),
});

builder.queryField('search', (t) =>
  t.field({
    type: [Hit],
    nullable: true,
    access: { kind: null },
    weight: ONCE_PER_DOCUMENT,
    description:
      'What has all words of a text in its id, its names and addresses, its description and its metadata, in any order ' +
      'and in upper or lower case. Whatever has just this id comes first; then endpoints, those that are offline, sessions, credentials, API ' +
      'keys, bot users, users, domains, certificates, edges, routes, backends, IP policies, vaults, secrets by name, ' +
      'visitors who have signed in and their sessions, event destinations and subscriptions, alerts, their rules, channels and silences, the newest of each first. What is secret is not searched, nor where event destinations lead, and of ' +
      `each kind the newest ${LOOKED_AT_MAX} only. A document may have one search.`,
    args: {
      text: t.arg.string({ required: true, description: 'What to look for: 1 to 10 words, in 1 to 200 characters.' }),
      first: t.arg.int({ defaultValue: 20, description: 'How many to give, 1 to 50.' }),
    },
    resolve: (_, { text, first }, { db, accountId }) => {
      const words = searchWords(text.trim(), 'text');
      const size = first ?? 20;
      if (size < 1 || size > HITS_MAX)
        throw new ApiError('limitOutOfRange', { member: 'first', min: 1, max: HITS_MAX });
      return search(db, accountId, words, size);
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
