// The descriptor of a kind of target: the members that the API shows, their checks, the secrets among them, and the sink that
// delivers to it. Everything else in the gateway is derived from the list of descriptors in index.ts.

import type { EventSettings } from '../settings.ts';
import type { Outbound } from './http/outbound.ts';
import type { Sink } from './sink.ts';
import type { TargetErrorRow } from './target-error.ts';

/** What a sink is opened with, besides its target. */
export interface SinkContext {
  settings: EventSettings;
  /** The HTTP agents for destinations. All sinks share them, so no sink may close them. */
  outbound: Outbound;
  /** `ed_…` */
  destinationId: string;
  /** Of the account that the destination belongs to. */
  accountId: string;
  /** The wall clock, in milliseconds. */
  now(): number;
}

interface Documented {
  /** The description of the output field in the API. */
  readonly description: string;
  /** The description of the input field. */
  readonly inputDescription: string;
}

/** A text. In inputs every member may be left out or null; `check` decides what is required. */
export interface TextMember extends Documented {
  readonly kind: 'text';
  /** Whether it may be null in outputs. */
  readonly isNullable: boolean;
  /**
   * A secret is stored encrypted, shown only in the response to its creation, and null in every other response. An update that
   * leaves it out keeps the stored one as long as `recipient` stays the same.
   */
  readonly isSecret: boolean;
  /** The error for a missing secret; by default, that the member is required. */
  readonly missing?: TargetErrorRow;
}

export interface ObjectMember extends Documented {
  readonly kind: 'object';
  readonly isNullable: boolean;
  readonly shape: TargetShape;
}

/** A list of objects, each of which is identified by one of its texts. */
export interface ListMember extends Documented {
  readonly kind: 'list';
  readonly shape: TargetShape;
  /** The name of the identifying text. An update keeps the secrets of the object with the same text. */
  readonly key: string;
}

export type MemberDescriptor = TextMember | ObjectMember | ListMember;
export type MemberDescriptors = Readonly<Record<string, MemberDescriptor>>;

/** An object within a target. */
export interface TargetShape extends Documented {
  /** The name of its GraphQL type; the input type has `Input` behind it. */
  readonly name: string;
  readonly members: MemberDescriptors;
}

/** A target as an input: any member may be missing. */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Given<T[K]> | null }
    : T;

/** The settings that limit which targets are allowed. */
export type TargetRules = Pick<EventSettings, 'eventWebhookHosts' | 'eventFileDir'>;

export interface SinkDescriptor<T extends object> {
  /** A short description of the target: "A file of the gateway’s machine.". */
  readonly title: string;
  /** A longer description. */
  readonly description: string;
  /** Set for targets that the specification does not have. REST shows such a member only where it is set. */
  readonly isAddition?: true;
  readonly members: { readonly [K in keyof T]: MemberDescriptor };
  /** The names in `EVENT_ENDPOINTS` that redirect requests of this sink. */
  readonly endpoints?: readonly string[];
  /** The errors of this kind of target alone. */
  readonly errors?: Readonly<Record<string, TargetErrorRow>>;
  /**
   * Validates an input. It decides which hosts the gateway calls.
   * @param path the path of the target, which precedes the names of its members in errors: `target.webhook`.
   * @returns a target of validated members only. A secret that was not given is null.
   * @throws {TargetError} for the first member that is invalid, with those of the others.
   */
  check(given: Given<T>, path: string, rules: TargetRules): T;
  /** Everything that decides who receives the secrets of a target. An update keeps them only while this stays the same. */
  recipient(target: T): unknown;
  /** Opens the sink. @throws {SinkError} when the target lacks a secret or its host is not allowed. */
  open(target: T, context: SinkContext): Promise<Sink>;
}

/** A text that is never null. */
export function textMember(description: string, inputDescription: string): TextMember {
  return { kind: 'text', isNullable: false, isSecret: false, description, inputDescription };
}

export function optionalTextMember(description: string, inputDescription: string): TextMember {
  return { ...textMember(description, inputDescription), isNullable: true };
}

/** A secret text. @param missing the error when it is missing; by default, that it is required. */
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
