// The modules of edges.

import { choice } from './member.tsx';
import type { Module } from './module.ts';
import { backend, ipRestriction, minVersion, mutualTls, policy, trafficPolicy } from './shared.tsx';

const tlsTermination = {
  field: 'tlsTermination',
  title: 'TLS termination',
  noun: 'TLS termination',
};

export const httpsEdgeModules: readonly Module[] = [
  mutualTls,
  {
    ...tlsTermination,
    what: 'An HTTPS edge always ends the TLS of visitors; this says from which version on.',
    members: [minVersion],
    summary: ({ minVersion }) => `from TLS ${minVersion} on`,
  },
];

export const tlsEdgeModules: readonly Module[] = [
  backend,
  ipRestriction,
  mutualTls,
  {
    ...tlsTermination,
    what: 'Who ends the TLS of visitors. Without it TLS goes through to the agent as it is, unless mutual TLS is on.',
    members: [
      choice('terminateAt', {
        label: 'Who ends TLS',
        options: [
          { value: 'edge', title: 'The gateway: the agent gets what was in it' },
          { value: 'upstream', title: 'The agent: TLS goes through as it is' },
        ],
      }),
      minVersion,
    ],
    summary: ({ terminateAt, minVersion }) =>
      terminateAt === 'upstream' ? 'TLS goes through to the agent' : `at the gateway, from TLS ${minVersion} on`,
  },
  trafficPolicy,
  policy,
];
