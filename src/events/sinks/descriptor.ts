// What a kind of target is made of. One descriptor says all of it: the shape that the API shows, its checks, its secrets,
// and the sink that delivers to it. Everything else in the gateway is derived from the list in index.ts.

import type { EventSettings } from '../settings.ts';
import type { Outbound } from './http/outbound.ts';
import type { Sink } from './sink.ts';
import type { TargetErrorRow } from './target-error.ts';

/** What a sink is made with, besides its target. */
export interface SinkContext {
  settings: EventSettings;
  /** The connections to destinations. All sinks share them, so that none may close them. */
  outbound: Outbound;
  /** `ed_…` */
  destinationId: string;
  /** Of the account that the destination belongs to. */
  accountId: string;
  /** The wall clock, in milliseconds. */
  now(): number;
}

interface Documented {
  /** What the API's documentation says of it where it is shown. */
  readonly description: string;
  /** The same where it is given. */
  readonly inputDescription: string;
}

/** A text. Everything that is given may be left out or null: `check` says what is required. */
export interface TextMember extends Documented {
  readonly kind: 'text';
  /** Whether it may be null where it is shown. */
  readonly isNullable: boolean;
  /**
   * A secret is stored sealed, shown only in the answer to the creation, and null in every other answer. An update that
   * leaves it out keeps the stored one as long as `recipient` stays the same.
   */
  readonly isSecret: boolean;
  /** What is said of a secret that is missing; otherwise that the member is required. */
  readonly missing?: TargetErrorRow;
}

export interface ObjectMember extends Documented {
  readonly kind: 'object';
  readonly isNullable: boolean;
  readonly shape: TargetShape;
}

/** A list of objects, each of which is told from the others by one of its texts. */
export interface ListMember extends Documented {
  readonly kind: 'list';
  readonly shape: TargetShape;
  /** The name of that text. A secret is kept for the object that has the same. */
  readonly key: string;
}

export type MemberDescriptor = TextMember | ObjectMember | ListMember;
export type MemberDescriptors = Readonly<Record<string, MemberDescriptor>>;

/** An object within a target. */
export interface TargetShape extends Documented {
  /** The name of its type in GraphQL; with `Input` behind it, of that which is given. */
  readonly name: string;
  readonly members: MemberDescriptors;
}

/** A target as it is given: any member may be missing. */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Given<T[K]> | null }
    : T;

/** What the operator allows. */
export type TargetRules = Pick<EventSettings, 'eventWebhookHosts' | 'eventFileDir'>;

export interface SinkDescriptor<T extends object> {
  /** What the target is, in a few words: "A file of the gateway’s machine.". */
  readonly title: string;
  /** The same at more length. */
  readonly description: string;
  /** Whether the specification does not have it: REST shows an addition only where it is set. */
  readonly isAddition?: true;
  readonly members: { readonly [K in keyof T]: MemberDescriptor };
  /** Names in `EVENT_ENDPOINTS` that requests of this sink can be sent elsewhere by. */
  readonly endpoints?: readonly string[];
  /** The errors that only this kind of target has. */
  readonly errors?: Readonly<Record<string, TargetErrorRow>>;
  /**
   * Checks what was given. What passes here decides which hosts the gateway calls.
   * @param path of the target, before the names of its members: `target.webhook`.
   * @returns the target with nothing in it that was not checked. A secret that was not given is null.
   * @throws {TargetError} naming the first member that is wrong.
   */
  check(given: Given<T>, path: string, rules: TargetRules): T;
  /** All that decides who receives the secrets of a target: they are kept only while it stays the same. */
  recipient(target: T): unknown;
  /** @throws {SinkError} when the target cannot be used as it is: without a secret, or at a host that is not allowed. */
  open(target: T, context: SinkContext): Promise<Sink>;
}

/** A text that is always there. */
export function textMember(description: string, inputDescription: string): TextMember {
  return { kind: 'text', isNullable: false, isSecret: false, description, inputDescription };
}

export function optionalTextMember(description: string, inputDescription: string): TextMember {
  return { ...textMember(description, inputDescription), isNullable: true };
}

/** @param missing what is said where it is missing; otherwise that it is required. */
export function secretMember(description: string, inputDescription: string, missing?: TargetErrorRow): TextMember {
  return {
    kind: 'text',
    isNullable: true,
    isSecret: true,
    description: `${description} Only the answer to \`createEventDestination\` has it; nobody can read it afterwards.`,
    inputDescription: `${inputDescription} When an update leaves it out, the stored one stays, unless the target leads somewhere else.`,
    ...(missing && { missing }),
  };
}
