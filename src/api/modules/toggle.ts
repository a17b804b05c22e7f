// Modules of a route that are on or off, and have no other settings.

import { Prisma } from '../../store/generated/prisma/client.ts';
import { builder } from '../builder.ts';
import { httpsEdgeRoute } from '../hosts.ts';
import type { Module } from '../module.ts';

interface Settings {
  enabled: boolean;
}

interface Input {
  enabled?: boolean | null;
}

interface Toggle {
  /** The field of the route and its column, as `websocketTcpConverter`. */
  field: string;
  /** The last part of the REST path, as `websocket_tcp_converter`. */
  path: string;
  noun: string;
  /** The name of its type. */
  type: string;
  description: string;
}

/** A module whose column is `{ enabled }`. */
export function toggle({ field, path, noun, type, description }: Toggle): Module<object, Settings, Input> {
  return {
    host: httpsEdgeRoute,
    field,
    path,
    noun,
    select: { [field]: true },
    type: builder.objectRef<Settings>(type).implement({
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
    read: (row) => (row as Record<string, Settings | null>)[field] ?? null,
    write: ({ enabled }) => ({ [field]: { enabled: enabled ?? true } }),
    unset: { [field]: Prisma.DbNull },
  };
}
