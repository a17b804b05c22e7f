// The variables of what the gateway does for tenants who name hosts: traffic policies, and backends at static addresses.

import { z } from 'zod';
import { listValue, networksOrHosts } from './value-types.ts';

export const policyVariables = {
  GEO_DATABASE: listValue('').meta({
    description:
      'files in the MMDB format (GeoLite2, DB-IP and others; places and networks, separated by commas), for the [variables](policies.md#where-addresses-are) of traffic policies about where visitors are. Each process holds them in memory, and reads them again when they change. Relative to the repository’s root',
    defaultText: 'none',
  }),
  POLICY_FETCH: z.enum(['public', 'any']).default('public').meta({
    description:
      'which addresses traffic policies may reach, for the keys of tokens, the certificates of Amazon SNS, and what `http-request` asks. `public`: public addresses that are none of this machine’s, and those of `BACKEND_HOSTS`, over HTTPS. `any`: also private addresses; for keys also this machine over HTTP, for `http-request` all over HTTP',
  }),
  BACKEND_HOSTS: networksOrHosts.meta({
    description:
      'hosts that [static backends](edges.md#static-backends) may be at, and traffic policies may reach, besides public addresses that are none of this machine’s: names, `*.name`, and networks (`10.0.0.0/8`). A listed name may have any address, also this machine’s',
  }),
  BACKEND_CA_FILE: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificate authorities for static backends, in addition to those of Node' }),
};
