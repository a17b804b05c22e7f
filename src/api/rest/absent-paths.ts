// What clients written for the original service may ask for, and there is none of here. It is not found like anything else, but the
// answer says that it is no mistake in the path.

import type { Express } from 'express';
import { ApiError } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { sendError } from '../http/responses.ts';

/** By the path under which it would be, with everything below. */
const ABSENT = {
  '/abuse_reports': 'Abuse reports',
  '/ai_gateway_api_keys': 'API keys of an AI gateway',
  '/ssh_certificate_authorities': 'SSH certificate authorities',
  '/ssh_credentials': 'SSH credentials',
  '/ssh_host_certificates': 'SSH host certificates',
  '/ssh_user_certificates': 'SSH user certificates',
  '/edges/https/:edge_id/routes/:id/saml': 'SAML modules of routes',
};

/** Answers requests for what does not exist here. To be called after all that does has its place. */
export function serveAbsentPaths(app: Express): void {
  for (const [path, what] of Object.entries(ABSENT))
    app.use(path, (_request, response) => {
      const { exchange } = response.locals as { exchange: ApiExchange };
      sendError(exchange, new ApiError('absentHere', { what }));
    });
}
