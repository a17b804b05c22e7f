// The actions that sign visitors in, as a visitor meets them who is no browser: no provider is asked.

import { action, onRequest } from '../../policy/documents/support.ts';
import { statuses, varied } from './action-case.ts';

const PREFLIGHT = {
  method: 'OPTIONS',
  headers: { origin: 'https://other.example.com', 'access-control-request-method': 'GET' },
};
const client = { client_id: 'shop', client_secret: 'a secret' };

/** @param issuer the URL of one that can be read. */
export const signInCases = (issuer: string) =>
  [
    { type: 'openid-connect', settings: { issuer_url: issuer, ...client } },
    { type: 'oauth', settings: { provider: 'github', ...client } },
  ].map(({ type, settings }) =>
    varied(
      type,
      (passes: boolean) => onRequest([action(type, { ...settings, allow_cors_preflight: passes })]),
      [false, statuses([{}, 401], [PREFLIGHT, 401])],
      [true, statuses([{}, 401], [PREFLIGHT, 200])],
    ),
  );
