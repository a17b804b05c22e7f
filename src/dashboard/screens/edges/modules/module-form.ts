// What the dashboard knows of a kind of module: what it is called, and the fields of its form.

import type { ComponentType } from 'preact';
import type { ModuleField, ModuleSettings } from './field-kinds.tsx';
import type { HostKind, ModuleHost } from './hosts.ts';

export interface ModuleForm {
  title: string;
  /** The name as it stands within a sentence. */
  noun: string;
  /** What the module does, in a sentence or two. */
  description: string;
  fields: readonly ModuleField[];
  /** How it is set, in a few words. */
  summary?: (settings: ModuleSettings) => string;
  /** The ids of the objects that it refers to; they are shown in place of a summary. */
  references?: (settings: ModuleSettings) => string[];
  /** Whether it has secrets. Nobody can read them, so that they are lost when the module is unset. */
  hasSecrets?: (settings: ModuleSettings) => boolean;
  /** Whether it is another shape of another module. Only its form changes it: a switch would rewrite the other. */
  isAlias?: boolean;
  /** What the module is doing now: on its own page, and on the page of its edge or route. */
  Status?: ComponentType<ModulePanelProps>;
  /** What stands below the form. */
  Panel?: ComponentType<ModulePanelProps>;
  /** What differs on one kind of host. */
  on?: Partial<Record<HostKind, Partial<ModuleForm>>>;
}

/** A module as it can be set on one kind of host. */
export interface Module extends ModuleForm {
  /** The field of the edge or route that has it. */
  field: string;
}

export interface ModulePanelProps {
  host: ModuleHost;
  /** What the form holds, by the names of its fields. */
  values: Readonly<Record<string, unknown>>;
  settings: ConfiguredModule | undefined;
}

/** A module that is set. */
export interface ConfiguredModule extends ModuleSettings {
  enabled: boolean;
}

/** What a form of this module begins with. */
export function initialValues({ fields }: ModuleForm, settings: ModuleSettings | undefined): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ name, initialValue: read }) => [name, read(settings)]));
}

/** What is sent for a module. It replaces the whole module. */
export function moduleInput(
  { fields }: ModuleForm,
  values: Readonly<Record<string, unknown>>,
  enabled: boolean,
): object {
  return { enabled, ...Object.fromEntries(fields.map(({ name, toInput: send }) => [name, send(values[name])])) };
}

/** A module's settings among those of its host; undefined when it is not set. */
export function moduleSettings({ field }: Module, settings: object): ConfiguredModule | undefined {
  // The generated types name the modules of each kind of host; here a field is any of them.
  return (settings as Record<string, ConfiguredModule | null | undefined>)[field] ?? undefined;
}
