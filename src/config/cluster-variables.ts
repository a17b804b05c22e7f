// The variables of links between gateways.

import { z } from 'zod';
import { milliseconds, port } from './value-types.ts';

export const clusterVariables = {
  WORKERS: z
    .union([z.literal('auto'), z.coerce.number<string>().int().min(1).max(256)], {
      error: 'must be a number from 1 to 256, or auto',
    })
    .optional()
    .meta({
      description:
        'processes that carry visitors and agents, [each on a core of its own](operating.md#all-cores-of-a-machine), or `auto` for as many as there are cores. With 1, one process does all',
      defaultText: '1, and from 4 cores on `auto`',
    }),
  NODE_ADDR: z.string().min(1).optional().meta({
    description:
      'address or host name of this gateway for the others that share its database. They forward visitors to each other, [so that any of them serves any name](operating.md#several-gateways). Needs `DATABASE_URL`. Keep the port closed to everybody else',
    defaultText: 'visitors are not forwarded',
  }),
  NODE_PORT: port(4444).meta({ description: 'port for the other gateways, over mutual TLS' }),
  NODE_HOST: z.string().min(1).optional().meta({
    description: 'address on which the gateway listens for the others, where it is not `NODE_ADDR` itself',
    defaultText: '`NODE_ADDR`',
  }),
  LINK_HEARTBEAT_MS: milliseconds(250, 10).meta({
    description: 'time between two heartbeats of a link between gateways',
  }),
  LINK_TOLERANCE_MS: milliseconds(500, 10).meta({
    description: 'how long the answer to such a heartbeat may take before the link is given up',
  }),
  LIMIT_SHARE_MS: milliseconds(200, 10).meta({
    description:
      'how often gateways tell each other what they have counted for the `rate-limit` actions of policies, and of failed sign-ins. Beyond a limit come at most the requests of this time at the other gateways',
  }),
  LIMITS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' })
    .optional()
    .meta({
      description:
        'Redis 6 or newer, or Valkey (`redis://…`, `rediss://…` with TLS) that counts for the `rate-limit` actions of policies [exactly](operating.md#exact-rate-limits), for all gateways. Needs `NODE_ADDR`',
      defaultText: 'gateways share their counts',
    }),
};
