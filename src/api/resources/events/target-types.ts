// The GraphQL types of event targets (specification section 2.5), made from the descriptors of the sinks.

import type { MemberDescriptor, MemberDescriptors, TargetShape } from '../../../events/sinks/descriptor.ts';
import { descriptorOf, type SinkName, sinkNames, type Target } from '../../../events/sinks/index.ts';
import { builder } from '../../builder/builder.ts';
import type { GivenTarget } from './target-check.ts';

/** An object within a target, by the names of its members. */
type Values = Record<string, unknown>;

const ADDITION = 'An addition to the specification';

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

function mapValues<V, R>(record: Readonly<Record<string, V>>, map: (value: V, name: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

/** The target of a kind: the object that is the kind's member of `EventTarget`. */
function shapeOf(name: SinkName): TargetShape {
  const { description, isAddition, members } = descriptorOf(name);
  const text = isAddition ? `${description} ${ADDITION}.` : description;
  return { name: `${capitalized(name)}Target`, description: text, inputDescription: text, members };
}

const newOutput = (name: string) => builder.objectRef<Values>(name);
const newInput = (name: string) => builder.inputRef<object>(name);

/** By their names: several kinds have objects of the same shape within them. */
const outputs = new Map<string, ReturnType<typeof newOutput>>();
const inputs = new Map<string, ReturnType<typeof newInput>>();

function outputOf({ name, description, members }: TargetShape): ReturnType<typeof newOutput> {
  const known = outputs.get(name);
  if (known) return known;
  const ref = newOutput(name);
  outputs.set(name, ref);
  ref.implement({
    description,
    fields: (t) =>
      mapValues<MemberDescriptor, ReturnType<typeof t.field>>(members, (member, name) => {
        const { description } = member;
        // Descriptors and targets agree about the type of a member: the test of the documented shapes compares them.
        const resolve = (values: Values) => values[name] as never;
        if (member.kind === 'text') return t.string({ description, nullable: member.isNullable, resolve });
        const type = outputOf(member.shape);
        if (member.kind === 'list') return t.field({ type: [type], description, resolve });
        return t.field({ type, description, nullable: member.isNullable, resolve });
      }),
  });
  return ref;
}

/** Every member may be null, because clients send back what they were shown. `check` says what is required. */
function inputOf({ name, inputDescription, members }: TargetShape): ReturnType<typeof newInput> {
  const known = inputs.get(name);
  if (known) return known;
  const ref = newInput(`${name}Input`);
  inputs.set(name, ref);
  ref.implement({
    description: inputDescription,
    fields: (t) =>
      mapValues<MemberDescriptor, ReturnType<typeof t.field>>(members, (member) => {
        const { inputDescription: description } = member;
        if (member.kind === 'text') return t.string({ description });
        const type = inputOf(member.shape);
        return t.field({ type: member.kind === 'list' ? [type] : type, description });
      }),
  });
  return ref;
}

const byKind = <R>(map: (name: SinkName) => R) => Object.fromEntries(sinkNames.map((name) => [name, map(name)]));

export const EventTargetInput = builder.inputRef<GivenTarget>('EventTargetInput').implement({
  description: 'Where to send events: set one member, and leave out the others or set them to null.',
  fields: (t) =>
    byKind((name) => {
      const { title, isAddition } = descriptorOf(name);
      return t.field({ type: inputOf(shapeOf(name)), description: isAddition ? `${title} ${ADDITION}.` : title });
    }),
});

const additions = sinkNames.filter((name) => descriptorOf(name).isAddition);
const additionType = (name: SinkName) => `${capitalized(name)}EventTarget`;

export const EventTarget = builder.interfaceRef<Target>('EventTarget').implement({
  description: 'Where events are sent: one member is set, the others are null.',
  fields: (t) =>
    byKind((name) => {
      const { title, isAddition } = descriptorOf(name);
      return t.field({
        type: outputOf(shapeOf(name)),
        nullable: true,
        description: isAddition ? `${title} ${ADDITION}; REST shows it only where it is set.` : title,
        resolve: (target) => target[name] as Values | undefined, // Its descriptor says which members it has.
      });
    }),
  resolveType: (target) => {
    const addition = additions.find((name) => target[name]);
    return addition ? additionType(addition) : 'SpecifiedEventTarget';
  },
});

// Additions have types of their own, so that a selection can show them only where they are set.
const implementing = [
  { name: 'SpecifiedEventTarget', description: 'A target of the specification.' },
  ...additions.map((name) => ({
    name: additionType(name),
    description: `A target whose \`${name}\` is set. ${ADDITION}.`,
  })),
];
for (const { name, description } of implementing)
  builder.objectRef<Target>(name).implement({ description, interfaces: [EventTarget] });

/** What a REST response shows of a target. */
export const targetSelection = `target { ${sinkNames.map(selectionOf).join(' ')} }`;

function selectionOf(name: SinkName): string {
  const selection = `${name} { ${membersOf(shapeOf(name).members)} }`;
  return additions.includes(name) ? `... on ${additionType(name)} { ${selection} }` : selection;
}

function membersOf(members: MemberDescriptors): string {
  const selected = Object.entries(members).map(([name, member]) =>
    member.kind === 'text' ? name : `${name} { ${membersOf(member.shape.members)} }`,
  );
  return selected.join(' ');
}
