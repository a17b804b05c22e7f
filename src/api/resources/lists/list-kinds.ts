// What each list offers: what it can be filtered and ordered by, exported, and changed in bulk. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import { BulkActionType, bulkActionsFor } from '../../collections/bulk-operations.ts';
import { type Collection, registeredCollections } from '../../collections/collection.ts';
import { exportPathOf } from '../../collections/exports.ts';
import { type FilterMember, ID_MEMBER } from '../../collections/members.ts';
import type { Route } from '../../route.ts';

const ListMemberType = builder.enumType('ListMemberType', {
  description: 'What a member of an object is, for filters: how it is compared.',
  values: {
    ID: { value: 'id', description: 'An id: equal, or one of several.' },
    TEXT: { value: 'text', description: 'A text: equal, or with a beginning, an end or a part.' },
    TIMESTAMP: { value: 'timestamp', description: 'A time: before or after another.' },
    BOOLEAN: { value: 'boolean', description: 'True or false.' },
    NUMBER: { value: 'number', description: 'A number: equal, less or more.' },
    CHOICE: { value: 'choice', description: 'One of its `choices`.' },
    TEXTS: { value: 'texts', description: 'A list of texts: whether one is in it.' },
    LABELS: { value: 'labels', description: 'An object of texts: the text of a key.' },
  } as const,
});

type NamedMember = [name: string, member: FilterMember];

const ListMember = builder.objectRef<NamedMember>('ListMember').implement({
  description: 'A member by which a list can be filtered.',
  fields: (t) => ({
    name: t.string({ description: 'Its name as in REST: `created_at`.', resolve: ([name]) => name }),
    type: t.field({
      type: ListMemberType,
      description: 'What it is.',
      resolve: ([, { type }]) => (type === 'relatedTexts' ? 'texts' : type),
    }),
    isOrdered: t.boolean({
      description: 'Whether lists can be ordered by it.',
      resolve: ([, { isOrdered = false }]) => isOrdered,
    }),
    isNullable: t.boolean({
      description: 'Whether an object may be without it.',
      resolve: ([, { isNullable = false }]) => isNullable,
    }),
    choices: t.stringList({
      description: 'What it can be, as filters name it; empty where it is no `CHOICE`.',
      resolve: ([, member]) => (member.type === 'choice' ? Object.keys(member.choices) : []),
    }),
  }),
});

const ListKind = builder.objectRef<Collection>('ListKind').implement({
  description: 'A list, and what can be done with it.',
  fields: (t) => ({
    name: t.exposeString('plural', { description: 'The field of `Query` that is the list: `credentials`.' }),
    kind: t.exposeString('kind', { description: 'The kind of its objects, as changes name it: `credential`.' }),
    typeName: t.exposeString('typeName', { description: 'The type of its objects: `Credential`.' }),
    path: t.exposeString('path', {
      description: 'The path of the list, as `/credentials`. Not every list has a REST resource there.',
    }),
    members: t.field({
      type: [ListMember],
      description: 'What it can be filtered by, and which of that it can be ordered by.',
      resolve: ({ members = ID_MEMBER }) => Object.entries(members),
    }),
    bulkActions: t.field({
      type: [BulkActionType],
      description: 'What you may do with many of its objects at once. Single ones may still be refused.',
      resolve: ({ kind }, _, { caller }) => bulkActionsFor(caller, kind),
    }),
    exportPath: t.string({
      nullable: true,
      description:
        'Where the list is downloaded as CSV or JSON lines, as `/export/credentials`; null when it cannot be.',
      resolve: (list) => exportPathOf(list),
    }),
  }),
});

builder.queryField('listKinds', (t) =>
  t.field({
    type: [ListKind],
    access: { kind: null },
    description: 'Every list of the API that can be filtered, and what can be done with it.',
    resolve: () => [...registeredCollections()],
  }),
);

export const routes: Route[] = [];
