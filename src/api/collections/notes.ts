// What most objects have: an id, a URI, the time of their creation, and the notes of their owner, a text for people and one for machines.

import type PrismaTypes from '../../store/generated/pothos.ts';
import type { SchemaTypes } from '../builder/builder.ts';
import type { checkTexts } from '../text-limits.ts';
import { resourceOf } from './nodes.ts';

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;
export type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;
/** Of any model that has these columns: which it is makes no difference here. */
type RowBuilder = PothosSchemaTypes.PrismaObjectFieldBuilder<Types, PrismaTypes['Vault']>;

/** What an object's notes are for, and which errors refuse them. */
export interface NoteTexts {
  errors?: Parameters<typeof checkTexts>[1];
  /** What `description` is for, of an object and of one that is about to be created. */
  description: string;
  newDescription?: string;
}

export const NOTES: NoteTexts = { description: 'What it is for, for people; at most 255 bytes.' };
/** Of what proves who somebody is. */
export const KEY_NOTES: NoteTexts = {
  errors: 'key',
  description: 'Who or what uses it, for people; at most 255 bytes.',
  newDescription: 'Who or what will use it, for people; at most 255 bytes.',
};
const METADATA = 'Anything, for machines; at most 4096 bytes.';

/** The members of an input that creates. */
export function newNotes(t: InputBuilder, { description, newDescription = description }: NoteTexts) {
  return {
    description: t.string({ description: newDescription }),
    metadata: t.string({ description: METADATA }),
  };
}

/** The members of an input that changes. */
export function changedNotes(t: InputBuilder) {
  return {
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  };
}

interface RowFieldsOptions {
  /** What its id begins with. */
  prefix: string;
  /** The path of its list in REST. */
  path: string;
  /** What `createdAt` says. */
  createdAt?: string;
  notes?: NoteTexts;
}

/**
 * The fields `id`, `uri`, `createdAt`, `description` and `metadata`.
 * @param t the builder of a type whose rows have these columns.
 */
export function rowFields(
  t: unknown,
  { prefix, path, createdAt = 'When it was created.', notes = NOTES }: RowFieldsOptions,
) {
  const row = t as RowBuilder;
  return {
    id: row.exposeID('id', { description: `Its id: \`${prefix}_…\`.` }),
    uri: uriField(t, () => path),
    createdAt: row.expose('createdAt', { type: 'Timestamp', description: createdAt }),
    description: row.exposeString('description', { description: notes.description }),
    metadata: row.exposeString('metadata', { description: METADATA }),
  };
}

/** The field `uri`. @param pathOf gives the path of the list that the object with an id is in, without a slash at its end. */
export function uriField(t: unknown, pathOf: (id: string) => string) {
  return (t as RowBuilder).string({
    description: 'The URI of its REST resource.',
    resolve: ({ id }, _, context) => context.uri(`${pathOf(id)}/${id}`),
  });
}

/** The fields of `rowFields` as an interface has them, whose objects are of several kinds. @param idHelp describes `id`. */
export function commonFields(t: unknown, idHelp: string) {
  const { id: _, uri: __, ...fields } = rowFields(t, { prefix: '', path: '' });
  return {
    id: (t as RowBuilder).exposeID('id', { description: idHelp }),
    uri: uriField(t, (id) => resourceOf(id)?.path ?? ''),
    ...fields,
  };
}
