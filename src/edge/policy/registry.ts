// The kinds of actions that there are. A new one is a file, and a line here.

import { suggestion } from '../cel/names.ts';
import type { ActionKind } from './action.ts';
import { addHeaders } from './actions/add-headers.ts';
import { basicAuth } from './actions/basic-auth.ts';
import { circuitBreaker } from './actions/circuit-breaker.ts';
import { closeConnection } from './actions/close-connection.ts';
import { compressResponse } from './actions/compress-response.ts';
import { customResponse } from './actions/custom-response.ts';
import { deny } from './actions/deny.ts';
import { forwardInternal } from './actions/forward-internal.ts';
import { jwtValidation } from './actions/jwt-validation.ts';
import { log } from './actions/log.ts';
import { rateLimit } from './actions/rate-limit.ts';
import { redirect } from './actions/redirect.ts';
import { removeHeaders } from './actions/remove-headers.ts';
import { restrictIps } from './actions/restrict-ips.ts';
import { setVars } from './actions/set-vars.ts';
import { terminateTls } from './actions/terminate-tls.ts';
import { urlRewrite } from './actions/url-rewrite.ts';
import { verifyWebhookAction } from './actions/verify-webhook.ts';

/** All kinds, by the names that policies call them now. */
export const actionKinds: readonly ActionKind[] = [
  addHeaders,
  basicAuth,
  circuitBreaker,
  closeConnection,
  compressResponse,
  customResponse,
  deny,
  forwardInternal,
  jwtValidation,
  log,
  rateLimit,
  redirect,
  removeHeaders,
  restrictIps,
  setVars,
  terminateTls,
  urlRewrite,
  verifyWebhookAction,
];

const byType = new Map<string, ActionKind>(
  actionKinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((type) => [type, kind] as const)),
);

/** Why actions that are known elsewhere cannot be had here, in words to be read behind their type. */
const identity = 'needs an identity provider, which comes in a later version of this gateway';
const later = 'is not available in this version of the gateway';
const unavailable: Readonly<Record<string, string>> = {
  oauth: identity,
  'openid-connect': identity,
  oidc: identity,
  saml: identity,
  'ai-gateway': later,
  'http-request': later,
  'owasp-crs-request': later,
  'owasp-crs-response': later,
  'request-body-find-replace': later,
  'response-body-find-replace': later,
  'sse-find-replace': later,
};

/** @param type as a policy has it, perhaps an older name. */
export function actionKind(type: string): ActionKind | undefined {
  return byType.get(type);
}

/** Why there is no such action, to be read behind its place. */
export function unknownAction(type: string): string {
  const reason = Object.hasOwn(unavailable, type) ? unavailable[type] : undefined;
  if (reason) return `${type} ${reason}`;
  return `is no action that is known here${suggestion(type, byType.keys()) || `; known are: ${[...byType.keys()].join(', ')}`}`;
}
