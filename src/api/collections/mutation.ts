// A mutation, and the payload that it answers with.

import type { MutationFieldThunk } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import { builder, type ObjectRowRef, type SchemaTypes } from '../builder/builder.ts';
import { type PayloadSource, registerPayload, shownOnceOf } from '../builder/payloads.ts';
import { checkReadScope } from '../builder/root-fields.ts';
import type { Context } from '../context.ts';
import { nounOf } from '../naming.ts';
import { cursorOf } from './cursor.ts';
import { findById, registeredResources } from './nodes.ts';
import { NEWEST_FIRST } from './order.ts';
import { edgeTypeOf } from './page.ts';

type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

/** An object of a payload that is read only where it is selected. */
export interface PayloadObject {
  kind: string;
  description?: string;
  /** Its id; `id` of the arguments when left out. Null: there is none. */
  id?(args: Record<string, unknown>, result: unknown): string | null;
}

/** What the payload of a mutation has. */
export interface PayloadOptions {
  /** The member that is what the resolver gives, and its description. Left out where it gives nothing to show. */
  gives?: readonly [member: string, description: string];
  /** Ids that are members of what the resolver gives, and their descriptions: where there is no object to show. */
  ids?: Readonly<Record<string, string>>;
  /** What is shown this once, and the descriptions: the resolver gives it with `showOnce`, and no field of the object's type has it. */
  secrets?: Readonly<Record<string, string>>;
  /** They may be null: what is set is not set by each call. */
  secretsMayBeNull?: boolean;
  /** The name of the connection whose edge the new object has. */
  edgeOf?: string;
  /** Objects that changed with it, or that it was about, by their members. */
  objects?: Readonly<Record<string, PayloadObject>>;
}

/**
 * Adds a mutation to the schema. It answers with the type `<Name>Payload`.
 * @param define as for `builder.mutationField`: the type that it names, and what its resolver gives, is the member `gives`.
 */
export function mutation(name: string, options: PayloadOptions, define: MutationFieldThunk<BuilderTypes>): void {
  const { gives, secrets = {}, secretsMayBeNull = false, edgeOf, ids = {}, objects = {} } = options;
  const [member, description = ''] = gives ?? [];
  const edge = edgeOf === undefined || member === undefined ? undefined : `${member}Edge`;
  const ref = builder.objectRef<PayloadSource>(`${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`);
  ref.implement({
    description: `What \`${name}\` answers with.`,
    fields: (t) => ({
      // Its type is that of the mutation as it is written: the plugin sees to it.
      ...(member === undefined
        ? {}
        : { [member]: t.field({ type: 'Json', description, resolve: ({ result }) => result }) }),
      ...Object.fromEntries(
        Object.entries(ids).map(([name, description]) => [
          name,
          t.id({ description, resolve: ({ result }) => (result as Record<string, string>)[name] ?? '' }),
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(secrets).map(([secret, text]) => [
          secret,
          t.string({
            nullable: secretsMayBeNull,
            description: text,
            resolve: (source) => shownOnceOf(source, secret) as string, // Null where it may be.
          }),
        ]),
      ),
      ...(edge === undefined || edgeOf === undefined
        ? {}
        : {
            [edge]: t.field({
              type: edgeTypeOf(edgeOf),
              description:
                'The same object with its cursor, as lists have it that are in their own order, the newest first.',
              resolve: ({ result }) => {
                const row = result as { id: string };
                return { row, cursor: () => cursorOf(row, NEWEST_FIRST) };
              },
            }),
          }),
      ...Object.fromEntries(
        Object.entries(objects).map(([name, { kind, description, id = idOf }]) => {
          const resource = registeredResources().find((one) => one.kind === kind);
          if (!resource?.ref) throw new Error(`payloads: there is no kind of object ${kind}`);
          const resolve = ({ args, result }: PayloadSource, _: object, context: Context, info: never) => {
            const given = id(args, result);
            if (given === null) return null;
            checkReadScope(context, kind, given);
            return findById(resource, context, given, queryFromInfo({ context, info }));
          };
          const type: ObjectRowRef = resource.ref;
          const text = description ?? `The ${nounOf(kind)} as it is now; null when it is gone.`;
          return [name, t.field({ type, nullable: true, description: text, resolve: resolve as never })];
        }),
      ),
    }),
  });
  registerPayload(name, { ref: ref as never, member, edge, secrets: Object.keys(secrets) });
  builder.mutationField(name, define);
}

/** What the payload of a mutation that deletes has: the id. @param kind of what is deleted. */
export function deletedOf(kind: string): { gives: readonly [string, string] } {
  return {
    gives: [`deleted${kind.charAt(0).toUpperCase()}${kind.slice(1)}Id`, `The id that the ${nounOf(kind)} had.`],
  };
}

/** What the payload of a mutation has that answers with one object of a kind. */
export function givesObject(kind: string): { gives: readonly [string, string] } {
  return { gives: [kind, `The ${nounOf(kind)} as it is now.`] };
}

/** What the payload of a mutation has that creates an object of a kind with a list. @param edgeOf what its connection is called after. */
export function givesNew(kind: string, edgeOf: string): PayloadOptions {
  return { gives: [kind, `The new ${nounOf(kind)}.`], edgeOf };
}

const idOf = ({ id }: Record<string, unknown>) => String(id);
