// Modules of a route that are on or off, and have no other settings.

import type { ModuleDescriptor, ModuleSettings } from '../../edge/modules/descriptor.ts';
import { builder } from '../builder/builder.ts';
import { httpsEdgeRoute } from './hosts.ts';
import { type ApiModule, storedUnder } from './module.ts';

interface Input {
  enabled?: boolean | null;
}

interface Toggle {
  noun: string;
  /** The name of its type. */
  type: string;
  description: string;
}

/** A module whose settings are `{ enabled }`. */
export function toggle(
  descriptor: ModuleDescriptor,
  { noun, type, description }: Toggle,
): ApiModule<{ modules: unknown }, ModuleSettings, Input> {
  return {
    host: httpsEdgeRoute,
    ...storedUnder(descriptor),
    noun,
    type: builder.objectRef<ModuleSettings>(type).implement({
      description,
      fields: (t) => ({
        enabled: t.exposeBoolean('enabled', { description: 'Whether it acts on traffic.' }),
      }),
    }),
    input: builder.inputType(`${type}Input`, {
      description,
      fields: (t) => ({
        enabled: t.boolean({ description: 'Whether it acts on traffic. Default true.' }),
      }),
    }),
    selection: 'enabled',
    write: ({ enabled }) => ({ modules: { [descriptor.key]: { enabled: enabled ?? true } } }),
  };
}
