// Scopes and times of API keys that are refused.

import { type HostileCase, wrong } from './case.ts';

export const wrongKeys: HostileCase[] = [
  ...[
    '',
    'write',
    'nothing:read',
    'endpoint:delete',
    'api_key:write',
    'user:write',
    'Endpoint:read',
    'endpoint:read:',
  ].map((scope) => wrong('createApiKey', 'scopes', ['read', scope], 90331, { blamed: 'scopes[1]' })),
  wrong('updateApiKey', 'scopes', Array(51).fill('read'), 90332),
  wrong('createApiKey', 'expires_at', '2020-01-01T00:00:00Z', 90333),
];
