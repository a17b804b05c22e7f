// What a module is to this screen: a line in a list, and a form. The modules themselves are in tables beside this.

import type { ComponentType } from 'preact';
import type { Host } from './hosts.ts';
import type { Member, Settings } from './member.tsx';

export interface Module {
  /** The field of its edge or route. */
  field: string;
  title: string;
  /** As it is called within a sentence. */
  noun: string;
  what: string;
  members: readonly Member[];
  /** How it is set, in a few words; `nameOf` tells what an object is called. */
  summary?: (settings: Settings) => string;
  /** The objects that it names, shown in place of a summary. */
  names?: (settings: Settings) => string[];
  /** Whether it has secrets, which nobody can read and are gone when it is unset. */
  hasSecrets?: (settings: Settings) => boolean;
  /** Of what it is another shape: it is changed by its form alone, which rewrites the other. */
  isAlias?: boolean;
  /** What stands below its form. */
  Aside?: ComponentType<AsideProps>;
}

export interface AsideProps {
  host: Host;
  /** What the form holds, by the names of members. */
  values: Readonly<Record<string, unknown>>;
  settings: SetModule | undefined;
}

/** A module that is set. */
export interface SetModule extends Settings {
  enabled: boolean;
}

/** What a form of this module begins with. */
export function valuesOf({ members }: Module, settings: Settings | undefined): Record<string, unknown> {
  return Object.fromEntries(members.map(({ name, read }) => [name, read(settings)]));
}

/** What is sent for a module: it is replaced as a whole. */
export function inputOf({ members }: Module, values: Readonly<Record<string, unknown>>, enabled: boolean): object {
  return { enabled, ...Object.fromEntries(members.map(({ name, send }) => [name, send(values[name])])) };
}
