// The description of a module's form: its texts and fields.

import type { ComponentType } from 'preact';
import type { ModuleField, ModuleSettings } from './field-kinds.tsx';
import type { HostKind, ModuleHost } from './hosts.ts';

export interface ModuleForm {
  title: string;
  /** The name of the module within a sentence. */
  noun: string;
  /** What the module does, in one or two sentences. */
  description: string;
  fields: readonly ModuleField[];
  /** Puts the values of the fields where the input has them; left out, it has all at its top. */
  arrange?: (values: ModuleSettings) => object;
  /** Summarizes the settings in a few words. */
  summary?: (settings: ModuleSettings) => string;
  /** The ids of the objects that it refers to. Links to them replace the summary. */
  references?: (settings: ModuleSettings) => string[];
  /** Whether it has secrets. They cannot be read, so unsetting the module loses them. */
  hasSecrets?: (settings: ModuleSettings) => boolean;
  /** Whether it is another form of another module. It has no switch, which would rewrite that module. */
  isAlias?: boolean;
  /** The current state of the module, shown on its own page and on the page of its edge or route. */
  Status?: ComponentType<ModulePanelProps>;
  /** A panel below the form. */
  Panel?: ComponentType<ModulePanelProps>;
  /** What differs for one kind of host. */
  on?: Partial<Record<HostKind, Partial<ModuleForm>>>;
}

/** A module of one kind of host. */
export interface Module extends ModuleForm {
  /** Its field in the type of the edge or route. */
  field: string;
}

export interface ModulePanelProps {
  host: ModuleHost;
  /** The values of the form by the names of its fields. */
  values: Readonly<Record<string, unknown>>;
  settings: ConfiguredModule | undefined;
}

/** The settings of a module that is set. */
export interface ConfiguredModule extends ModuleSettings {
  enabled: boolean;
}

/** The initial values of the form. */
export function initialValues({ fields }: ModuleForm, settings: ModuleSettings | undefined): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ name, initialValue }) => [name, initialValue(settings)]));
}

/** The values that a draft may have. */
export function withoutSecrets({ fields }: ModuleForm, values: Record<string, unknown>): Record<string, unknown> {
  const kept = fields.filter(({ name, holdsSecret }) => !holdsSecret?.(values[name]));
  return Object.fromEntries(['enabled', ...kept.map(({ name }) => name)].map((name) => [name, values[name]]));
}

/** The input for a module, which replaces all of its settings. */
export function moduleInput(
  { fields, arrange }: ModuleForm,
  values: Readonly<Record<string, unknown>>,
  enabled: boolean,
): object {
  const input = Object.fromEntries(fields.map(({ name, toInput }) => [name, toInput(values[name])]));
  return { enabled, ...(arrange?.(input) ?? input) };
}

/** The settings of a module of a host; undefined if it is not set. */
export function moduleSettings({ field }: Module, settings: object): ConfiguredModule | undefined {
  // The generated types list the modules of each kind of host; here the field may be any of them.
  return (settings as Record<string, ConfiguredModule | null | undefined>)[field] ?? undefined;
}
